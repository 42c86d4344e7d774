// Addresses that are not the public Internet. No name reaches them unless a grant says so for that name.
// The list is the union of the IANA special-purpose registries and the ranges that embed other addresses.
import { type Address, type AddressRange, inRange, parseRange } from "./address.ts";

const SPECIAL_TEXT = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // Everything below 2000::/3 and above it: unspecified, loopback, IPv4-compatible, NAT64, discard, unassigned.
  "::/3",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "2620:4f:8000::/48",
  "3fff::/20",
  "4000::/2",
  "8000::/1",
] as const;

/** Addresses that hand out credentials to every client. Only a grant for that one address opens them. */
const METADATA_TEXT = [
  "169.254.169.254",
  "169.254.170.2",
  "169.254.170.23",
  "169.254.169.253",
  "169.254.169.123",
  "169.254.0.23",
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
] as const;

function ranges(list: readonly string[]): readonly AddressRange[] {
  return list.map((text) => {
    const range = parseRange(text);
    if (!range.ok) throw new Error(`special range ${text}: ${range.message}`);
    return range.value;
  });
}

export const METADATA_RANGES: readonly AddressRange[] = ranges(METADATA_TEXT);
export const SPECIAL_RANGES: readonly AddressRange[] = [...ranges(SPECIAL_TEXT), ...METADATA_RANGES];

export function isSpecial(address: Address): boolean {
  return SPECIAL_RANGES.some((range) => inRange(range, address));
}

const LOOPBACK: readonly AddressRange[] = ranges(["127.0.0.0/8", "::1"]);

export function isLoopback(address: Address): boolean {
  return LOOPBACK.some((range) => inRange(range, address));
}

const THIS_MACHINE: readonly AddressRange[] = [...LOOPBACK, ...ranges(["0.0.0.0/8", "::"])];

/** Loopback, and the addresses that mean "this host": a connection to one of these reaches this machine. */
export function isThisMachine(address: Address): boolean {
  return THIS_MACHINE.some((range) => inRange(range, address));
}

export function isMetadata(address: Address): boolean {
  return METADATA_RANGES.some((range) => inRange(range, address));
}

/** Narrowest width at which a written range still opens special addresses. */
const OPENING_PREFIX_MIN = { 4: 8, 6: 32 } as const;

/** Does this written range open this address? Wide ranges never open special ones, metadata needs its own line. */
export function rangeOpens(range: AddressRange, address: Address): boolean {
  if (!inRange(range, address)) return false;
  if (!isSpecial(address)) return true;
  if (isMetadata(address)) return range.low === range.high;
  return range.prefix >= OPENING_PREFIX_MIN[range.family];
}
