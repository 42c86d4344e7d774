// Parses the arguments of `net.fetch` once, into plain values.

import { utf8Bytes } from "../../core/base/bytes.ts";
import * as limits from "./limits.ts";
import { countOf, optionsOf } from "./option.ts";
import { invalid, type UseResult, useResult } from "./use-result.ts";

export interface FetchOptions {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | readonly (readonly [string, string])[] | undefined;
  readonly body?: string | Uint8Array | null | undefined;
  /** `manual` returns the redirect itself; `error` refuses it. */
  readonly redirect?: "follow" | "manual" | "error" | undefined;
  readonly bytesMax?: number | undefined;
  readonly millisecondsMax?: number | undefined;
}

export type FetchVerb = "net.get" | "net.post" | "net.put" | "net.delete";

export type Header = readonly [string, string];

export interface FetchRequest {
  readonly verb: FetchVerb;
  readonly method: string;
  readonly headers: readonly Header[];
  /** Text may contain placeholders; bytes are sent as they are. */
  readonly body: string | Uint8Array | null;
  readonly redirect: "follow" | "manual" | "error";
  readonly bytesMax: number;
  readonly millisecondsMax: number;
}

const VERBS: ReadonlyMap<unknown, FetchVerb> = new Map([
  ["GET", "net.get"],
  ["HEAD", "net.get"],
  ["OPTIONS", "net.get"],
  ["POST", "net.post"],
  ["PUT", "net.put"],
  ["PATCH", "net.put"],
  ["DELETE", "net.delete"],
]);

/** The verb a method needs; null for a method that cannot be granted. */
export function fetchVerb(method: string): FetchVerb | null {
  return VERBS.get(method) ?? null;
}

/** Connection headers: only the network layer sets them. */
const REFUSED: readonly string[] = [
  ...["host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer", "keep-alive", "expect"],
  ...["proxy-connection", "proxy-authenticate", "http2-settings"],
];

const NAMES = ["method", "headers", "body", "redirect", "bytesMax", "millisecondsMax"];

export function readFetch(options: unknown): UseResult<FetchRequest> {
  const read = optionsOf(options, NAMES);
  if (read === null) return invalid(null, `the options of a fetch are ${NAMES.join(", ")}`);
  // As the platform does: common methods are case-insensitive, others are kept as written.
  const written = read["method"] ?? "GET";
  const method = typeof written === "string" ? written.toUpperCase() : "";
  const verb = fetchVerb(method);
  if (verb === null) return invalid(null, `the method is one of ${[...VERBS.keys()].join(", ")}`);
  const headers = headersOf(read["headers"]);
  if (headers === null)
    return invalid(verb, "a header has a name and one line of text, and none is about the connection");
  const body = bodyOf(read["body"]);
  if (body === undefined) return invalid(verb, `a body is text or bytes, at most ${limits.bodyBytesMax} of them`);
  if (body !== null && (method === "GET" || method === "HEAD")) return invalid(verb, `${method} has no body`);
  const redirect = read["redirect"] ?? "follow";
  if (redirect !== "follow" && redirect !== "manual" && redirect !== "error")
    return invalid(verb, "`redirect` is follow, manual or error");
  const bytesMax = countOf(read["bytesMax"], limits.fetchBytesUsual, limits.fetchBytesMax);
  const millisecondsMax = countOf(read["millisecondsMax"], limits.fetchMillisecondsUsual, limits.fetchMillisecondsMax);
  if (bytesMax === null || millisecondsMax === null)
    return invalid(
      verb,
      `at most ${limits.fetchBytesMax} bytes and ${limits.fetchMillisecondsMax} milliseconds, whole and above nought`,
    );
  return useResult({ verb, method, headers, body, redirect, bytesMax, millisecondsMax });
}

function headersOf(value: unknown): readonly Header[] | null {
  if (value === undefined) return [];
  if (typeof value !== "object" || value === null) return null;
  const pairs: readonly unknown[] = Array.isArray(value) ? [...(value as unknown[])] : Object.entries(value);
  if (pairs.length > limits.headersMax) return null;
  const headers: Header[] = [];
  for (const pair of pairs) {
    if (!Array.isArray(pair)) return null;
    const [name, text] = pair as unknown[];
    if (typeof name !== "string" || typeof text !== "string") return null;
    const lower = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(lower) || REFUSED.includes(lower)) return null;
    if (text.length > limits.headerCharactersMax || /[^\t\u0020-\u007e\u0080-\u00ff]/.test(text)) return null;
    headers.push([lower, text.trim()]);
  }
  return headers;
}

/** Undefined: not a body. Bytes are copied, so later changes by the tool have no effect. */
function bodyOf(value: unknown): string | Uint8Array | null | undefined {
  if (value === undefined || value === null) return null;
  if (typeof value === "string")
    return value.length > limits.bodyBytesMax || utf8Bytes(value).length > limits.bodyBytesMax ? undefined : value;
  return value instanceof Uint8Array && value.length <= limits.bodyBytesMax ? new Uint8Array(value) : undefined;
}
