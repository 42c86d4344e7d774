// Where a redirect leads. The answer is read like any address: strictly, and decided like the first one.
import { destinationText, type ToAscii } from "../authority/destination.ts";
import { type Result, refuse } from "../authority/result.ts";
import { parseUrl, type Url } from "../authority/url.ts";

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

export function isRedirect(status: number): boolean {
  return REDIRECTS.includes(status);
}

/** A `Location` by the address it was answered from. */
export function redirectOf(location: string, from: Url, toAscii: ToAscii): Result<Url> {
  const text = location.trim();
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) return parseUrl(text, toAscii);
  // A backslash is a slash to some readers: what two of them could read differently is read by none.
  if (text.includes("\\")) return refuse("bad_value", "an address must not hold a backslash");
  if (text.startsWith("//")) return parseUrl(`${from.scheme}:${text}`, toAscii);
  return parseUrl(`${originOf(from)}${restOf(text, targetOf(from))}`, toAscii);
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
