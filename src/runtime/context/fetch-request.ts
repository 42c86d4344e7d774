// Parses the arguments of `net.fetch` once, into plain values.

import { type HeaderLine, methodVerb } from "../../core/authority/axes/http-request.ts";
import {
  type RequestSignature,
  readSignature,
  type SignatureOptions,
  signatureFault,
} from "../../core/authority/axes/request-signature.ts";
import { utf8Bytes } from "../../core/base/bytes.ts";
import * as limits from "./limits.ts";
import { countOf, invalid, optionsOf, type UseResult, useResult } from "./use-result.ts";

export interface FetchOptions {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | readonly (readonly [string, string])[] | undefined;
  readonly body?: string | Uint8Array | null | undefined;
  /** `manual` returns the redirect itself; `error` refuses it. */
  readonly redirect?: "follow" | "manual" | "error" | undefined;
  /** Signs the request with a secret, outside the tool. */
  readonly sign?: SignatureOptions | undefined;
  readonly bytesMax?: number | undefined;
  /** Truncates a longer response; by default it is refused. */
  readonly truncate?: boolean | undefined;
  readonly millisecondsMax?: number | undefined;
}

export type FetchVerb = "net.get" | "net.post" | "net.put" | "net.delete";

export interface FetchRequest {
  readonly verb: FetchVerb;
  readonly method: string;
  readonly headers: readonly HeaderLine[];
  /** Text may contain handles of secrets; bytes are sent as they are. */
  readonly body: string | Uint8Array | null;
  readonly redirect: "follow" | "manual" | "error";
  readonly sign: RequestSignature | null;
  readonly bytesMax: number;
  readonly isTruncating: boolean;
  readonly millisecondsMax: number;
}

/** The verb a method needs; null for a method that cannot be granted. */
export function fetchVerb(method: string): FetchVerb | null {
  return (methodVerb(method)?.verb ?? null) as FetchVerb | null;
}

const NAMES = ["method", "headers", "body", "redirect", "sign", "bytesMax", "truncate", "millisecondsMax"];

export function readFetch(options: unknown): UseResult<FetchRequest> {
  const read = optionsOf(options, NAMES);
  if (read === null) return invalid(null, `the options of a fetch are ${NAMES.join(", ")}`);
  // As the platform does: common methods are case-insensitive, others are kept as written.
  const written = read["method"] ?? "GET";
  const method = typeof written === "string" ? written.toUpperCase() : "";
  const verb = fetchVerb(method);
  if (verb === null) return invalid(null, `${JSON.stringify(method)} is not a method that can be granted`);
  const headers = headersOf(read["headers"]);
  if (headers === null)
    return invalid(verb, `headers are at most ${limits.headersMax} names, each with one line of text`);
  const body = bodyOf(read["body"]);
  if (body === undefined) return invalid(verb, `a body is text or bytes, at most ${limits.bodyBytesMax} of them`);
  const sign = signOf(read["sign"], headers);
  if (typeof sign === "string") return invalid(verb, sign);
  const redirect = read["redirect"] ?? (sign === null ? "follow" : "manual");
  if (redirect !== "follow" && redirect !== "manual" && redirect !== "error")
    return invalid(verb, "`redirect` is follow, manual or error");
  if (redirect === "follow" && sign !== null)
    return invalid(verb, "a signature is for one URL: with `sign`, `redirect` must be manual or error");
  const bytesMax = countOf(read["bytesMax"], limits.fetchBytesUsual, limits.fetchBytesMax);
  const millisecondsMax = countOf(read["millisecondsMax"], limits.fetchMillisecondsUsual, limits.fetchMillisecondsMax);
  const truncate = read["truncate"] ?? false;
  if (typeof truncate !== "boolean") return invalid(verb, "`truncate` is true or false");
  if (bytesMax === null || millisecondsMax === null)
    return invalid(
      verb,
      `at most ${limits.fetchBytesMax} bytes and ${limits.fetchMillisecondsMax} milliseconds, whole numbers above 0`,
    );
  const isTruncating = truncate;
  return useResult({ verb, method, headers, body, redirect, sign, bytesMax, isTruncating, millisecondsMax });
}

/** A text says why it is none. */
function signOf(value: unknown, headers: readonly HeaderLine[]): RequestSignature | string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "object" || Array.isArray(value)) return "`sign` is an object with a scheme and a secret";
  const sign = readSignature({ ...value });
  return typeof sign === "string" ? sign : (signatureFault(sign, headers) ?? sign);
}

function headersOf(value: unknown): readonly HeaderLine[] | null {
  if (value === undefined) return [];
  if (typeof value !== "object" || value === null) return null;
  const pairs: readonly unknown[] = Array.isArray(value) ? [...(value as unknown[])] : Object.entries(value);
  if (pairs.length > limits.headersMax) return null;
  const headers: HeaderLine[] = [];
  for (const pair of pairs) {
    if (!Array.isArray(pair)) return null;
    const [name, text] = pair as unknown[];
    if (typeof name !== "string" || typeof text !== "string") return null;
    if (text.length > limits.headerCharactersMax) return null;
    headers.push([name, text]);
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
