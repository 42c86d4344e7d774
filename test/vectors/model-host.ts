// An independent implementation of our rule for hosts: used to state what a decision predicts, never to decide.
import { domainToASCII } from "node:url";
import { bare, isAddress, literalOpens } from "./model-address.ts";

/** What `*.x` means: x and every subdomain, or only subdomains. */
export type Star = "tree" | "below";

/** In lower case, in ASCII, without one trailing dot; null if not a host name. */
export function canonicalHost(text: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: telling ASCII from the rest is the point
  const ascii = /^[\x00-\x7f]*$/.test(text) ? text.toLowerCase() : domainToASCII(text);
  const host = ascii.replace(/\.$/, "");
  const labels = host.split(".");
  if (!labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label)) || host.length > 253) return null;
  return /^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "") ? null : host;
}

interface HostPattern {
  readonly kind: "exact" | "tree" | "below" | "every";
  readonly host: string;
}

function patternOf(text: string, star: Star): HostPattern | null {
  if (text === "*") return { kind: "every", host: "" };
  const kind = text.startsWith("*.") ? star : text.startsWith("+.") && star === "tree" ? "below" : "exact";
  const host = canonicalHost(kind === "exact" ? text : text.slice(2));
  return host === null ? null : { kind, host };
}

export function hostCovered(pattern: string, host: string, star: Star): boolean {
  if (isAddress(bare(host))) return literalOpens(pattern, bare(host));
  const name = canonicalHost(host);
  const held = patternOf(pattern, star);
  if (name === null || held === null) return false;
  return lies({ kind: "exact", host: name }, held);
}

export function someHostCovers(patterns: readonly string[], host: string, star: Star): boolean {
  return patterns.some((pattern) => hostCovered(pattern, host, star));
}

export function hostPatternWithin(inner: string, outer: string, star: Star): boolean {
  if (isAddress(inner)) return literalOpens(outer, inner);
  const [left, right] = [patternOf(inner, star), patternOf(outer, star)];
  return left !== null && right !== null && lies(left, right);
}

function lies(inner: HostPattern, outer: HostPattern): boolean {
  if (outer.kind === "every") return true;
  if (inner.kind === "every") return false;
  const isBelow = inner.host.endsWith(`.${outer.host}`);
  if (outer.kind === "exact") return inner.kind === "exact" && inner.host === outer.host;
  if (inner.host !== outer.host) return isBelow;
  return outer.kind === "tree" || inner.kind === "below";
}

/** The intersection of two lists of hosts, in the spelling of declarations. */
export function commonHosts(left: readonly string[], right: readonly string[], star: Star): string[] {
  const common = left.flatMap((one) =>
    right.flatMap((other) =>
      hostPatternWithin(one, other, star) ? [one] : hostPatternWithin(other, one, star) ? [other] : [],
    ),
  );
  return [...new Set(common)].sort();
}

/** Spelled in a way that the seeds distinguish and we do not. */
export function isRespelled(text: string): boolean {
  return /[^.]\.$/.test(text) || /[A-Z]/.test(text) || /[^\x20-\x7e]/.test(text);
}

/** Neither a host name nor an address: a port, a space, an empty label, a number that some parsers read as an address. */
export function isNoHost(text: string): boolean {
  return !isAddress(bare(text)) && canonicalHost(text) === null;
}

/** A star anywhere but alone or as the whole first label, or a pattern over something that is not a host. */
export function isNoHostPattern(text: string): boolean {
  return patternOf(text, "tree") === null && !isAddress(bare(text).split("/")[0] ?? "");
}
