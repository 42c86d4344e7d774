// Decision 0004 in plain strings, sharing no code with the core: what our rule predicts for a host case.
import { isIP } from "node:net";
import { domainToASCII } from "node:url";

/**
 * Node parses its argument like the host of a URL and drops everything after a slash, so text outside a host's ASCII alphabet is
 * refused before. The capital sharp s became another name with Unicode 15.1: refused too.
 */
export function strictAscii(host: string): string | null {
  if (/\p{ASCII}/u.test(host.replace(/[A-Za-z0-9._-]/g, "")) || host.includes("\u1e9e")) return null;
  return domainToASCII(host) || null;
}

/** Lower case, ASCII, without its trailing dot; an address as the URL standard writes it; null if we refuse it. */
export function canonical(text: string): string | null {
  const inner = /^\[(.*)\]$/s.exec(text)?.[1] ?? text;
  if (inner.includes("%")) return null;
  if (isIP(inner) === 6) return new URL(`http://[${inner}]/`).hostname;
  if (isIP(text) === 4) return text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: telling ASCII from the rest is the point
  const ascii = /[^\x00-\x7f]/.test(text) ? strictAscii(text) : text.toLowerCase();
  const name = ascii?.replace(/\.$/, "") ?? "";
  if (name.length > 253 || !/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/.test(name)) return null;
  return /(^|\.)(\d+|0x[0-9a-f]*)$/.test(name) ? null : name;
}

/** Whether our language has this pattern. */
export function isPattern(pattern: string): boolean {
  if (pattern === "*" || isRange(pattern)) return true;
  const base = baseOf(pattern);
  return canonical(base ?? pattern) !== null && !(base !== null && isAddress(base));
}

/** A CIDR without bits below its prefix. Those of IPv6 are not distinguished here. */
export function isRange(pattern: string): boolean {
  const [address = "", prefix = "", ...more] = pattern.split("/");
  if (more.length > 0 || address.includes("%") || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return false;
  if (isIP(address) === 6) return Number(prefix) <= 128;
  if (isIP(address) !== 4 || Number(prefix) > 32) return false;
  const number = address.split(".").reduce((total, part) => total * 256 + Number(part), 0);
  return number % 2 ** (32 - Number(prefix)) === 0;
}

export function isAddress(text: string): boolean {
  return isIP(text) !== 0 || /^\[.*\]$/s.test(text);
}

/** The text after `*.` or `+.`. */
export function baseOf(pattern: string): string | null {
  return /^[*+]\.(.*)$/s.exec(pattern)?.[1] ?? null;
}

/** Our answer, or null if this file does not define it (a range, or a star over a literal address). */
export function expectedMatch(patterns: readonly string[], host: string): boolean | null {
  const name = canonical(host);
  if (name === null) return false;
  let open = false;
  for (const pattern of patterns) {
    if (isRange(pattern) || (pattern === "*" && isAddress(host))) open = true;
    else if (covers(pattern, name)) return true;
  }
  return open ? null : false;
}

function covers(pattern: string, name: string): boolean {
  if (pattern === "*") return true;
  const base = baseOf(pattern);
  const known = canonical(base ?? pattern);
  if (known === null || !isPattern(pattern)) return false;
  if (base === null) return known === name;
  return name.endsWith(`.${known}`) || (pattern.startsWith("*") && name === known);
}
