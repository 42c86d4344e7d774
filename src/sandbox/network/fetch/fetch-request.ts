// One outgoing request, and how the next one follows from a redirect.

import { type Destination, destinationText } from "../../../core/authority/axes/destination.ts";
import { becomesGet, isIdentifying, redirectOf } from "../../../core/authority/axes/redirect.ts";
import { parseUrl, type Scheme, type Url } from "../../../core/authority/axes/url.ts";
import { verbEntry } from "../../../core/authority/catalog.ts";
import type { Request } from "../../../core/authority/request.ts";
import { toAscii } from "../names/ascii.ts";
import { fetchHeaderBytesMax } from "./fetch-limits.ts";
import type { HeaderLine, Method } from "./fetch-messages.ts";
import { handlesIn, type ValueEncoding } from "./handles.ts";

export interface Outgoing {
  readonly method: Method;
  readonly url: Url;
  readonly headers: readonly HeaderLine[];
  readonly body: Buffer | null;
  /** Handles are replaced only in what the caller wrote, never in a redirect's URL. */
  readonly isWritten: boolean;
}

export type RequestFault = {
  readonly ok: false;
  readonly code: "invalid_input" | "scope_violation";
  readonly message: string;
};
export type RequestResult = { readonly ok: true; readonly value: Outgoing } | RequestFault;

/** Headers of the connection, which we control, or that we compute ourselves. */
const OURS: ReadonlySet<string> = new Set([
  ...["host", "connection", "keep-alive", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect"],
  ...[
    "proxy-authorization",
    "proxy-connection",
    "proxy-authenticate",
    "http2-settings",
    "alt-used",
    "via",
    "forwarded",
  ],
]);

export function outgoing(
  method: Method,
  address: string,
  headers: readonly HeaderLine[],
  body: Buffer | null,
): RequestResult {
  const url = parseUrl(address, toAscii);
  if (!url.ok) return wrong("invalid_input", url.message);
  if (!isAddressText(url.value.rest)) return wrong("invalid_input", "an address has only ASCII after its host");
  let bytes = 0;
  for (const [name, value] of headers) {
    bytes += name.length + value.length + 4;
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(name)) return wrong("invalid_input", "a header has no such name");
    if (OURS.has(name.toLowerCase()))
      return wrong("invalid_input", `the header ${name.toLowerCase()} is not yours to set`);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      return wrong("invalid_input", `the header ${name} holds what no header can`);
  }
  if (bytes > fetchHeaderBytesMax) return wrong("invalid_input", `headers have at most ${fetchHeaderBytesMax} bytes`);
  if (body !== null && (method === "GET" || method === "HEAD")) return wrong("invalid_input", `${method} has no body`);
  const { path } = parts(url.value);
  if (handlesIn(path, "query").length > 0)
    return wrong("invalid_input", "a secret stands in a header, in the query or in the body, not in the path");
  return { ok: true, value: { method, url: url.value, headers, body, isWritten: true } };
}

const isAddressText = (text: string): boolean => /^[\x21-\x7e]*$/.test(text);

/** The path with its slash, and the query with its question mark; the fragment is not sent. */
export function parts({ rest }: Url): { readonly path: string; readonly query: string } {
  const [whole = "/"] = rest.split("#", 1);
  const mark = whole.indexOf("?");
  return mark < 0 ? { path: whole, query: "" } : { path: whole.slice(0, mark), query: whole.slice(mark) };
}

export function originText({ scheme, host, port }: Url): string {
  const usual = scheme === "https" ? 443 : 80;
  return `${scheme}://${destinationText(host)}${port === usual ? "" : `:${port}`}`;
}

export function urlText(url: Url): string {
  const { path, query } = parts(url);
  return `${originText(url)}${path}${query}`;
}

/** Across origins nothing is forwarded that was meant for the first: no authorization, no cookies, no secret. */
export function redirected(before: Outgoing, status: number, location: string): RequestResult {
  const target = redirectOf(location, before.url, toAscii);
  if (!target.ok) return wrong("scope_violation", target.kind === "downgrade" ? target.message : UNREADABLE);
  const url = target.value;
  const isSame = originText(before.url) === originText(url);
  const toGet = becomesGet(status, before.method);
  const isBodyKept = !toGet && before.body !== null && (isSame || !hasHandle(before.body.toString("latin1"), "plain"));
  const headers = before.headers.filter(([name, value]) => {
    const lower = name.toLowerCase();
    if (!isBodyKept && lower.startsWith("content-")) return false;
    return isSame || !(isIdentifying(lower) || hasHandle(value, "header"));
  });
  return {
    ok: true,
    value: {
      method: toGet ? "GET" : before.method,
      url,
      headers,
      body: isBodyKept ? before.body : null,
      isWritten: false,
    },
  };
}

const UNREADABLE = "the redirect does not lead to an http or https address";

function hasHandle(text: string, place: ValueEncoding): boolean {
  return handlesIn(text, place).length > 0;
}

function wrong(code: RequestFault["code"], message: string): RequestFault {
  return { ok: false, code, message };
}

const VERBS: Readonly<Record<Method, string>> = {
  GET: "net.get",
  HEAD: "net.get",
  OPTIONS: "net.get",
  POST: "net.post",
  PUT: "net.put",
  PATCH: "net.put",
  DELETE: "net.delete",
};

export function fetchRequest(method: Method, scheme: Scheme, host: Destination, port: number): Request {
  const verb = verbEntry(VERBS[method]);
  if (verb === null) throw new Error(`the catalog has no ${VERBS[method]}`);
  return { verb, values: [host, port], scheme };
}
