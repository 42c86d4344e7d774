// Internet addresses as numbers: strict parsing, ranges, and one spelling for each address.
// An IPv4-mapped IPv6 address *is* the IPv4 address: the two spellings dial the same machine.
import { done, type Result, refuse } from "./result.ts";

export interface Address {
  readonly family: 4 | 6;
  readonly number: bigint;
}

/** All addresses from `low` to `high` of one family. A CIDR of `prefix` bits. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly low: bigint;
  readonly high: bigint;
  readonly prefix: number;
}

const MAPPED = 0xffffn << 32n;

/** Strict dotted decimal: four parts, no leading zero, nothing short or hexadecimal. */
export function parseIpv4(text: string): bigint | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return null;
  let number = 0n;
  for (let part = 1; part <= 4; part++) {
    const digits = match[part] as string;
    if ((digits.length > 1 && digits.startsWith("0")) || Number(digits) > 255) return null;
    number = (number << 8n) | BigInt(digits);
  }
  return number;
}

/** RFC 4291 text, with an optional dotted-decimal tail; no zone. */
export function parseIpv6(text: string): bigint | null {
  if (text.length < 2 || text.length > 45) return null;
  let body = text;
  const tailAt = body.lastIndexOf(":");
  if (body.includes(".")) {
    if (tailAt < 0) return null;
    const tail = parseIpv4(body.slice(tailAt + 1));
    if (tail === null) return null;
    body = `${body.slice(0, tailAt + 1)}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`;
  }
  const halves = body.split("::");
  if (halves.length > 2) return null;
  const left = words(halves[0] as string);
  const right = halves.length === 2 ? words(halves[1] as string) : [];
  if (left === null || right === null) return null;
  const missing = 8 - left.length - right.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  let number = 0n;
  for (const word of [...left, ...new Array<bigint>(Math.max(missing, 0)).fill(0n), ...right])
    number = (number << 16n) | word;
  return number;
}

function words(text: string): bigint[] | null {
  if (text === "") return [];
  const found: bigint[] = [];
  for (const word of text.split(":")) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(word)) return null;
    found.push(BigInt(`0x${word}`));
  }
  return found;
}

export function parseAddress(text: string): Address | null {
  const four = parseIpv4(text);
  if (four !== null) return { family: 4, number: four };
  const six = parseIpv6(text);
  return six === null ? null : addressOf(6, six);
}

/** The one spelling of an address. */
export function addressOf(family: 4 | 6, number: bigint): Address {
  if (family === 6 && number >> 32n === MAPPED >> 32n) return { family: 4, number: number & 0xffffffffn };
  return { family, number };
}

/** A literal address or a CIDR. Bits below the prefix must be zero: `10.0.0.1/8` is a mistake, not a range. */
export function parseRange(text: string): Result<AddressRange> {
  const slash = text.indexOf("/");
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === null) return refuse("bad_value", `${quote(text)} is not an address`);
  const bits = address.family === 4 ? 32 : 128;
  if (slash < 0) return done({ family: address.family, low: address.number, high: address.number, prefix: bits });
  const digits = text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(digits)) return refuse("bad_value", `${quote(text)} has no prefix length`);
  let prefix = Number(digits);
  if (address.family === 4 && text.includes(":")) {
    if (prefix < 96)
      return refuse(
        "bad_value",
        `${quote(text)} has a prefix shorter than 96, which is too short for an IPv4-mapped address`,
      );
    prefix -= 96;
  }
  if (prefix > bits) return refuse("bad_value", `${quote(text)} has a prefix longer than ${bits}`);
  const size = 1n << BigInt(bits - prefix);
  if (address.number % size !== 0n) {
    const low = address.number - (address.number % size);
    return refuse(
      "bad_value",
      `${quote(text)} has bits set below its prefix`,
      `${addressText({ family: address.family, number: low })}/${prefix}`,
    );
  }
  return done({ family: address.family, low: address.number, high: address.number + size - 1n, prefix });
}

export function inRange(range: AddressRange, address: Address): boolean {
  return range.family === address.family && address.number >= range.low && address.number <= range.high;
}

export function addressText(address: Address): string {
  const { family, number } = address;
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join(".");
  const list: string[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) list.push(((number >> shift) & 0xffffn).toString(16));
  return shorten(list);
}

/** RFC 5952: the longest run of two or more zero words becomes `::`. */
function shorten(list: readonly string[]): string {
  let best = -1;
  let bestLength = 1;
  for (let start = 0; start < list.length; start++) {
    let end = start;
    while (end < list.length && list[end] === "0") end++;
    if (end - start > bestLength) {
      best = start;
      bestLength = end - start;
    }
    if (end > start) start = end;
  }
  if (best < 0) return list.join(":");
  return `${list.slice(0, best).join(":")}::${list.slice(best + bestLength).join(":")}`;
}

export function rangeText(range: AddressRange): string {
  const text = addressText({ family: range.family, number: range.low });
  return range.low === range.high ? text : `${text}/${range.prefix}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}
