// One outgoing request, and how the next one follows from a redirect.

import { type Destination, destinationText } from "../../../core/authority/axes/destination.ts";
import {
  type HeaderLine,
  handlesIn,
  methodVerb,
  requestFault,
  urlParts,
  type ValueEncoding,
} from "../../../core/authority/axes/http-request.ts";
import { becomesGet, isIdentifying, redirectOf } from "../../../core/authority/axes/redirect.ts";
import { parseUrl, type Scheme, type Url } from "../../../core/authority/axes/url.ts";
import type { Request } from "../../../core/authority/request.ts";
import type { CodedFailure } from "../../../core/base/result.ts";
import { toAscii } from "../names/ascii.ts";
import type { Method } from "./fetch-messages.ts";

export interface Outgoing {
  readonly method: Method;
  readonly url: Url;
  readonly headers: readonly HeaderLine[];
  readonly body: Buffer | null;
  /** Handles are replaced only in what the caller wrote, never in a redirect's URL. */
  readonly isWritten: boolean;
}

export type RequestFault = CodedFailure<"invalid_input" | "scope_violation">;
export type RequestResult = { readonly ok: true; readonly value: Outgoing } | RequestFault;

export function outgoingRequest(
  method: Method,
  address: string,
  headers: readonly HeaderLine[],
  body: Buffer | null,
): RequestResult {
  const url = parseUrl(address, toAscii);
  if (!url.ok) return wrong("invalid_input", url.message);
  const fault = requestFault(method, url.value, headers, body !== null);
  if (fault !== null) return wrong("invalid_input", fault);
  return { ok: true, value: { method, url: url.value, headers, body, isWritten: true } };
}

export function originText({ scheme, host, port }: Url): string {
  const usual = scheme === "https" ? 443 : 80;
  return `${scheme}://${destinationText(host)}${port === usual ? "" : `:${port}`}`;
}

export function urlText(url: Url): string {
  const { path, query } = urlParts(url);
  return `${originText(url)}${path}${query}`;
}

/** Across origins nothing is forwarded that was meant for the first: no authorization, no cookies, no secret. */
export function redirectRequest(before: Outgoing, status: number, location: string): RequestResult {
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

const UNREADABLE = "the redirect target is not an http or https URL";

function hasHandle(text: string, place: ValueEncoding): boolean {
  return handlesIn(text, place).length > 0;
}

function wrong(code: RequestFault["code"], message: string): RequestFault {
  return { ok: false, code, message };
}

export function fetchRequest(method: Method, scheme: Scheme, host: Destination, port: number): Request {
  const verb = methodVerb(method);
  if (verb === null) throw new Error(`the catalog has no verb for ${method}`);
  return { verb, values: [host, port], scheme };
}
