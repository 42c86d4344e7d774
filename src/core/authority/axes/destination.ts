// The host axis: a name, a name with the address it resolved to, or a literal address.
import {
  type Address,
  type AddressRange,
  addressText,
  parseAddress,
  parseRange,
  rangeText,
} from "../../base/address.ts";
import { hostCharactersMax, labelCharactersMax, patternCharactersMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { isSpecial, rangeOpens } from "../../base/special.ts";
import { isPlainText } from "../patterns/reserved.ts";
import { DEEP, literal, ONE } from "../patterns/segment.ts";
import { anyMatches, type Segments, type Sequence, segmentsOf, sequenceMatches } from "../patterns/sequence.ts";

/**
 * Labels run from the top-level domain down, so that "below this domain" is a prefix.
 * A literal address has no name; a name that was not resolved yet has no address.
 */
export type Destination =
  | { readonly name: Segments; readonly address: Address | null }
  | { readonly name: null; readonly address: Address };

/** `db.internal=10.1.0.0/16`: this name may resolve into this range. */
export interface Opening {
  readonly name: Sequence;
  readonly range: AddressRange;
}

export interface DestinationScope {
  readonly kind: "destinations";
  readonly names: readonly Sequence[];
  readonly ranges: readonly AddressRange[];
  /** `*` was written: any name, and any public literal address. */
  readonly everyPublic: boolean;
  readonly openings: readonly Opening[];
}

/**
 * Turns an international name, or one that claims to be the ASCII form of one, into its ASCII form, or null.
 * Lives outside the core, which has no tables for it.
 */
export type ToAscii = (host: string) => string | null;

export function destinationMatches(scope: DestinationScope, value: Destination): boolean {
  const { name, address } = value;
  if (name === null) {
    if (scope.everyPublic && !isSpecial(address)) return true;
    return scope.ranges.some((range) => rangeOpens(range, address));
  }
  if (!anyMatches(scope.names, name)) return false;
  return address === null || addressOpen(scope, name, address);
}

/** May a name of this scope resolve to this address? */
export function addressOpen(scope: DestinationScope, name: Segments, address: Address): boolean {
  if (!isSpecial(address)) return true;
  return scope.openings.some((opening) => rangeOpens(opening.range, address) && sequenceMatches(opening.name, name));
}

/** A host as it stands in a request: a name or a literal address, in one canonical spelling. */
export function parseHost(text: string, toAscii: ToAscii): Result<Destination> {
  if (text.length > hostCharactersMax * 4) return refuse("too_long", "the host is too long");
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  const address = parseAddress(bare);
  if (address !== null && (bare === text || bare.includes(":"))) return done({ name: null, address });
  const labels = parseLabels(text, toAscii);
  return labels.ok ? done({ name: segmentsOf(labels.value), address: null }) : labels;
}

/** One entry of `hosts`: `x`, `*.x`, `+.x`, `*`, an address or a CIDR. */
export type HostEntry =
  | { readonly kind: "name"; readonly name: Sequence }
  | { readonly kind: "range"; readonly range: AddressRange }
  | { readonly kind: "every" };

export function parseHostEntry(text: string, toAscii: ToAscii): Result<HostEntry> {
  if (text.length > patternCharactersMax) return refuse("too_long", "the host pattern is too long");
  if (text === "*") return done({ kind: "every" });
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  const isAddress = bare.includes(":") || (bare === text && /^[\d./]+$/.test(bare));
  if (isAddress && /^[0-9a-fA-F:.]+(\/\d+)?$/.test(bare)) {
    const range = parseRange(bare);
    return range.ok ? done({ kind: "range", range: range.value }) : range;
  }
  const name = parseHostPattern(text, toAscii);
  if (name.ok) return done({ kind: "name", name: name.value });
  // The host alone would be every port of it.
  const [, host = "", port = ""] = /^([^:]+):(\d{1,5})$/.exec(text) ?? [];
  const isHost = host !== "" && (host === "*" || parseHostPattern(host, toAscii).ok);
  if (!isHost) return name;
  const fix = `hosts: ["${host}"], ports: [${Number(port)}]`;
  return refuse("bad_value", `${JSON.stringify(text)} has a port, which belongs in \`ports\``, fix);
}

/** A pattern over names alone, as it also stands before the `=` of an opening. */
export function parseHostPattern(text: string, toAscii: ToAscii): Result<Sequence> {
  const below = text.startsWith("+.");
  const tree = text.startsWith("*.");
  const labels = parseLabels(below || tree ? text.slice(2) : text, toAscii);
  if (!labels.ok) {
    if (!text.includes("*")) return labels;
    return refuse(
      "bad_pattern",
      `${JSON.stringify(text)}: \`*\` must be the whole pattern or the whole first label`,
      "*.example.com",
    );
  }
  const exact = labels.value.map(literal);
  return done(below ? [...exact, ONE, DEEP] : tree ? [...exact, DEEP] : exact);
}

/** Labels from the top down. Refuses whatever is outside the host alphabet, and anything that reads as a number. */
function parseLabels(text: string, toAscii: ToAscii): Result<readonly string[]> {
  if (text === "") return refuse("bad_value", "the host is empty");
  if (!isPlainText(text)) return refuse("bad_value", "the host contains a character that is not allowed");
  const lower = text.toLowerCase();
  const isAscii = /^\p{ASCII}*$/u.test(text);
  // `xn--` claims to be the ASCII form of some name; only the tables know whether there is such a name.
  const ascii = isAscii && !/(^|\.)xn--/.test(lower) ? lower : toAscii(text);
  if (ascii === null || (isAscii && ascii !== lower))
    return refuse("bad_value", `${JSON.stringify(text)} is not a host name`);
  const host = ascii.endsWith(".") ? ascii.slice(0, -1) : ascii;
  if (host.length > hostCharactersMax) return refuse("too_long", "the host is too long");
  const labels = host.split(".");
  for (const label of labels) {
    if (!/^[a-z0-9_-]+$/.test(label) || label.length > labelCharactersMax) {
      return refuse("bad_value", `${JSON.stringify(text)} is not a host name`);
    }
  }
  // A last label that is a number would be read as an address by some resolvers: 0x7f.1, 2130706433.
  if (/^(\d+|0x[0-9a-f]*)$/.test(labels[labels.length - 1] as string)) {
    return refuse("bad_value", `${JSON.stringify(text)} looks like an IP address, but is not in its standard form`);
  }
  return done(labels.reverse());
}

export function destinationText(value: Destination): string {
  if (value.name === null)
    return value.address.family === 6 ? `[${addressText(value.address)}]` : addressText(value.address);
  return value.name.segments.toReversed().join(".");
}

export function hostPatternText(name: Sequence): string {
  const exact: string[] = [];
  let prefix = "";
  for (const [at, segment] of name.entries()) {
    if (segment.kind === "deep") prefix = name[at - 1]?.kind === "one" ? "+." : "*.";
    else if (segment.kind === "literal") exact.push(segment.text);
    else if (segment.kind === "glob") exact.push(segment.parts.join("*"));
    else if (name[at + 1]?.kind !== "deep") exact.push("*");
  }
  return exact.length === 0 ? "*" : prefix + exact.reverse().join(".");
}

/** Every entry of a scope as it is written in `hosts`. */
export function hostTexts(scope: DestinationScope): string[] {
  const star = scope.everyPublic ? ["*"] : [];
  const names = scope.names.map(hostPatternText).filter((text) => text !== "*");
  return [...star, ...names, ...scope.ranges.map(rangeText)];
}

export function openingTexts(scope: DestinationScope): string[] {
  return scope.openings.map((opening) => `${hostPatternText(opening.name)}=${rangeText(opening.range)}`);
}
