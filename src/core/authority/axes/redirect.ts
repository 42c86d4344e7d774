// The rule for redirects, for every part that follows one: where it leads, which method it has then, and which headers stay
// behind. A `Location` is read like any address: strictly, and decided like the first one.

import { type Result, refuse } from "../../base/result.ts";
import { destinationText, type ToAscii } from "./destination.ts";
import { parseUrl, type Url } from "./url.ts";

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

export function isRedirect(status: number): boolean {
  return REDIRECTS.includes(status);
}

export type RedirectTarget =
  | { readonly ok: true; readonly value: Url }
  | { readonly ok: false; readonly kind: "unreadable" | "downgrade"; readonly message: string };

/** A `Location` by the address it was answered from. INVARIANT: what began encrypted stays encrypted. */
export function redirectOf(location: string, from: Url, toAscii: ToAscii): RedirectTarget {
  const read = locationOf(location, from, toAscii);
  if (!read.ok) return { ok: false, kind: "unreadable", message: read.message };
  if (from.scheme === "https" && read.value.scheme !== "https")
    return { ok: false, kind: "downgrade", message: "the redirect leads from https to http" };
  return { ok: true, value: read.value };
}

function locationOf(location: string, from: Url, toAscii: ToAscii): Result<Url> {
  const text = location.trim();
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) return escaped(parseUrl(text, toAscii));
  // A backslash is a slash to some readers: what two of them could read differently is read by none.
  if (text.includes("\\")) return refuse("bad_value", "a URL must not contain a backslash");
  if (text.startsWith("//")) return escaped(parseUrl(`${from.scheme}:${text}`, toAscii));
  return escaped(parseUrl(`${originOf(from)}${restOf(text, targetOf(from))}`, toAscii));
}

/** Servers write letters outside ASCII as they are; a request has them percent-encoded. */
function escaped(read: Result<Url>): Result<Url> {
  if (!read.ok || /^[\x21-\x7e]*$/.test(read.value.rest)) return read;
  if (/\p{Surrogate}/u.test(read.value.rest))
    return refuse("bad_value", "a URL must not contain an unpaired surrogate");
  const rest = read.value.rest.replace(/[^\x21-\x7e]+/gu, (part) => encodeURIComponent(part));
  return { ok: true, value: { ...read.value, rest } };
}

/** As browsers do: 303 asks for the result, and 301 and 302 of a POST are treated alike. */
export function becomesGet(status: number, method: string): boolean {
  return status === 303 ? method !== "HEAD" && method !== "GET" : status < 303 && method === "POST";
}

const IDENTIFYING: readonly string[] = ["authorization", "proxy-authorization", "cookie"];

/** A header that says who the caller is: another origin never gets it. */
export function isIdentifying(name: string): boolean {
  return IDENTIFYING.includes(name.toLowerCase());
}

export function originOf({ scheme, host, port }: Url): string {
  return `${scheme}://${destinationText(host)}:${port}`;
}

/** As a person would write it: no port where it is the scheme's own. */
export function urlText(url: Url): string {
  const usual = url.scheme === "http" ? 80 : 443;
  return `${url.scheme}://${destinationText(url.host)}${url.port === usual ? "" : `:${url.port}`}${url.rest}`;
}

/** Path and query: what goes to the server. */
export function targetOf({ rest }: Url): string {
  const fragment = rest.indexOf("#");
  return fragment < 0 ? rest : rest.slice(0, fragment);
}

function restOf(text: string, base: string): string {
  const query = base.indexOf("?");
  const path = query < 0 ? base : base.slice(0, query);
  if (text === "" || text.startsWith("#")) return base + text;
  if (text.startsWith("?")) return path + text;
  const end = text.search(/[?#]/);
  const own = end < 0 ? text : text.slice(0, end);
  const whole = own.startsWith("/") ? own : path.slice(0, path.lastIndexOf("/") + 1) + own;
  return withoutDots(whole) + (end < 0 ? "" : text.slice(end));
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  const parts = path.split("/").slice(1);
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1;
    if (part === "..") kept.pop();
    if (part !== "." && part !== "..") kept.push(part);
    else if (isLast) kept.push("");
  }
  return `/${kept.join("/")}`;
}
