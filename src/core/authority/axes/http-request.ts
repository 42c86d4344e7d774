// What one HTTP request may hold, for every part that makes or sends one: its headers, its body, and handles of secrets.
import { type VerbEntry, verbEntry } from "../catalog.ts";
import type { Url } from "./url.ts";

const VERBS: ReadonlyMap<string, string> = new Map([
  ["GET", "net.get"],
  ["HEAD", "net.get"],
  ["OPTIONS", "net.get"],
  ["POST", "net.post"],
  ["PUT", "net.put"],
  ["PATCH", "net.put"],
  ["DELETE", "net.delete"],
]);

/** The verb an HTTP method needs; null for a method that cannot be granted. Methods are case-sensitive. */
export function methodVerb(method: string): VerbEntry | null {
  const verb = VERBS.get(method);
  return verb === undefined ? null : verbEntry(verb);
}

export type HeaderLine = readonly [name: string, value: string];

/** Of all headers of a request, and of a response. */
export const headerBytesMax = 65_536;

/** Headers of the connection, which the network layer sets or computes. */
const CONNECTION: ReadonlySet<string> = new Set([
  ...["host", "connection", "keep-alive", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect"],
  ...["proxy-authorization", "proxy-connection", "proxy-authenticate", "http2-settings"],
  ...["alt-used", "via", "forwarded"],
]);

/** Why a request cannot be sent; null if it can. */
export function requestFault(
  method: string,
  url: Url,
  headers: readonly HeaderLine[],
  hasBody: boolean,
): string | null {
  if (!/^[\x21-\x7e]*$/.test(url.rest)) return "a URL may contain only ASCII after its host";
  let bytes = 0;
  for (const [name, value] of headers) {
    bytes += name.length + value.length + 4;
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(name)) return "this is not a valid header name";
    if (CONNECTION.has(name.toLowerCase())) return `the header ${name.toLowerCase()} cannot be set by a tool`;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      return `the header ${name} contains characters that are not allowed in a header`;
  }
  if (bytes > headerBytesMax) return `headers have at most ${headerBytesMax} bytes`;
  if (hasBody && (method === "GET" || method === "HEAD")) return `${method} has no body`;
  if (handlesIn(urlParts(url).path, "query").length > 0)
    return "a secret can be in a header, the query or the body, not in the path";
  return null;
}

/** The path with its slash, and the query with its question mark; the fragment is not sent. */
export function urlParts({ rest }: Url): { readonly path: string; readonly query: string } {
  const [whole = "/"] = rest.split("#", 1);
  const mark = whole.indexOf("?");
  return mark < 0 ? { path: whole, query: "" } : { path: whole.slice(0, mark), query: whole.slice(mark) };
}

/** The encoding of a secret's value at its position. */
export type ValueEncoding = "header" | "query" | "json" | "form" | "plain";

/** The handle of a secret: `{{secret:name}}`. A tool sees this text and never the value. */
export function handleOf(name: string): string {
  return `{{secret:${name}}}`;
}

/** A handle in a URL may have percent-encoded braces. */
export function handlePattern(place: ValueEncoding): RegExp {
  return place === "query"
    ? /(?:\{|%7b){2}secret(?::|%3a)([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?:\}|%7d){2}/gi
    : /\{\{secret:([A-Za-z0-9][A-Za-z0-9._-]{0,63})\}\}/g;
}

/** Names of secrets in order of appearance. */
export function handlesIn(text: string, place: ValueEncoding): readonly string[] {
  return [...text.matchAll(handlePattern(place))].map((match) => match[1] as string);
}

/** The secrets of a request, each once. */
export function secretsIn(url: Url, headers: readonly HeaderLine[], body: string | null): readonly string[] {
  const found = [
    ...handlesIn(urlParts(url).query, "query"),
    ...headers.flatMap(([, value]) => handlesIn(value, "header")),
    ...handlesIn(body ?? "", "plain"),
  ];
  return [...new Set(found)];
}
