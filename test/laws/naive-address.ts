// The reference for addresses: strings of bits and prefixes, no numbers, its own copy of the special ranges.
import type { Address, AddressRange } from "../../src/core/base/address.ts";

export function bits(family: 4 | 6, number: bigint): string {
  return number.toString(2).padStart(family === 4 ? 32 : 128, "0");
}

interface Prefix {
  readonly family: 4 | 6;
  readonly bits: string;
}

/** Parses a CIDR with at most one `::`, which is all the list below contains. */
export function prefixOf(text: string): Prefix {
  const [address = "", length] = text.split("/");
  const family = address.includes(":") ? 6 : 4;
  const all =
    family === 4
      ? address
          .split(".")
          .map((part) => Number(part).toString(2).padStart(8, "0"))
          .join("")
      : words(address);
  return { family, bits: all.slice(0, length === undefined ? all.length : Number(length)) };
}

function words(text: string): string {
  const [left = "", right = ""] = text.split("::");
  const read = (half: string): string[] =>
    half === "" ? [] : half.split(":").map((word) => Number.parseInt(word, 16).toString(2).padStart(16, "0"));
  const before = read(left);
  const after = text.includes("::") ? read(right) : [];
  return [...before, ...new Array<string>(8 - before.length - after.length).fill("0".repeat(16)), ...after].join("");
}

const METADATA =
  "169.254.169.254 169.254.170.2 169.254.170.23 169.254.169.253 169.254.169.123 169.254.0.23 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 fd00:ec2::23 fd20:ce::254"
    .split(" ")
    .map(prefixOf);

const SPECIAL = (
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 " +
  "192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 " +
  "::/3 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 4000::/2 8000::/1"
)
  .split(" ")
  .map(prefixOf);

function begins(prefix: Prefix, address: Address): boolean {
  return prefix.family === address.family && bits(address.family, address.number).startsWith(prefix.bits);
}

export function naiveMetadata(address: Address): boolean {
  return METADATA.some((prefix) => begins(prefix, address));
}

export function naiveSpecial(address: Address): boolean {
  return naiveMetadata(address) || SPECIAL.some((prefix) => begins(prefix, address));
}

export function naiveInRange(range: AddressRange, address: Address): boolean {
  return begins({ family: range.family, bits: bits(range.family, range.low).slice(0, range.prefix) }, address);
}

/** A wide range opens public addresses only; a metadata address is opened by its own single entry only. */
export function naiveOpens(range: AddressRange, address: Address): boolean {
  if (!naiveInRange(range, address)) return false;
  if (naiveMetadata(address)) return range.prefix === (range.family === 4 ? 32 : 128);
  return !naiveSpecial(address) || range.prefix >= (range.family === 4 ? 8 : 32);
}

/** Every address where a range or special range begins or has just ended, in one family. */
export function naiveBoundaries(family: 4 | 6, ranges: readonly AddressRange[]): bigint[] {
  const width = family === 4 ? 32 : 128;
  const prefixes = [
    ...METADATA,
    ...SPECIAL,
    ...ranges.map((range) => ({ family: range.family, bits: bits(range.family, range.low).slice(0, range.prefix) })),
  ];
  const starts = new Set<bigint>([0n]);
  for (const prefix of prefixes) {
    if (prefix.family !== family) continue;
    const low = BigInt(`0b${prefix.bits.padEnd(width, "0")}`);
    starts.add(low).add(low + (1n << BigInt(width - prefix.bits.length)));
  }
  // The IPv4-mapped block of IPv6 is written as IPv4: the addresses after it are a separate part.
  if (family === 6) starts.add(1n << 48n);
  return [...starts].filter((start) => start < 1n << BigInt(width) && !(family === 6 && start >> 32n === 0xffffn));
}
