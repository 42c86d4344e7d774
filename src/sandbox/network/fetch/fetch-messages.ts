// Messages between daemon and broker about fetches. Bytes are base64: the channel transports JSON.

import { type HeaderLine, headerBytesMax } from "../../../core/authority/axes/http-request.ts";
import { type RequestSignature, readSignature } from "../../../core/authority/axes/request-signature.ts";
import type { Scheme } from "../../../core/authority/axes/url.ts";
import { DENIAL_CODES, type DenialCode } from "../../../core/authority/decision.ts";
import { urlCharactersMax } from "../../../core/base/limits.ts";
import type { ResolverChoice } from "../names/resolver.ts";
import { type Check, exactly, flag, isShape, list, orNull, text, whole } from "../shape.ts";
import {
  addressesMax,
  fetchHeadersMax,
  fetchMillisecondsMax,
  fetchSecretsMax,
  pieceBytesMax,
  redirectsMax,
  requestBodyBytesMax,
  responseBodyBytesMax,
} from "./fetch-limits.ts";

export const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof METHODS)[number];

export interface FetchLimits {
  readonly headerBytes: number;
  readonly bodyBytes: number;
  readonly milliseconds: number;
  readonly redirects: number;
}

export interface SecretMessage {
  readonly name: string;
  readonly value: string;
  readonly hosts: readonly string[];
  readonly isSignOnly: boolean;
}

/** `authorities`: certificates to trust instead of the usual ones. */
export interface FetchMessage {
  readonly kind: "fetch";
  readonly number: number;
  readonly method: Method;
  readonly url: string;
  readonly headers: readonly HeaderLine[];
  readonly body: string | null;
  readonly limits: FetchLimits;
  readonly secrets: readonly SecretMessage[];
  readonly sign: RequestSignature | null;
  readonly resolver: ResolverChoice;
  readonly authorities: string | null;
}

/** `fetch-more`: one chunk was consumed. `fetch-stop`: the fetch is no longer needed. */
export interface FetchControl {
  readonly kind: "fetch-more" | "fetch-stop";
  readonly number: number;
}

export type FetchMessageToBroker = FetchMessage | FetchControl;

/**
 * Asks the daemon to decide a hop. `addresses` null: whether the name may be looked up; otherwise all addresses it
 * resolved to.
 */
export interface HopQuestion {
  readonly kind: "hop-request";
  readonly number: number;
  readonly fetch: number;
  readonly method: Method;
  readonly scheme: Scheme;
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[] | null;
}

export interface Hop {
  readonly method: Method;
  readonly url: string;
  readonly status: number;
}

export interface FetchHead {
  readonly kind: "fetch-head";
  readonly number: number;
  readonly status: number;
  readonly url: string;
  readonly headers: readonly HeaderLine[];
  readonly hops: readonly Hop[];
  /** Names of secrets that were sent. */
  readonly used: readonly string[];
}

export interface FetchBytes {
  readonly kind: "fetch-bytes";
  readonly number: number;
  readonly bytes: string;
}

/** The end of a fetch, with or without a head before it. */
export interface FetchEnd {
  readonly kind: "fetch-end";
  readonly number: number;
  readonly code: DenialCode | null;
  readonly message: string;
  /** Names of secrets that came back and were redacted. */
  readonly seen: readonly string[];
}

export type FetchBrokerMessage = HopQuestion | FetchHead | FetchBytes | FetchEnd;

const number = whole(1, Number.MAX_SAFE_INTEGER);
const method = exactly<Method>(...METHODS);
const url = text(urlCharactersMax);
const name = text(64);
const base64 = (bytesMax: number): Check<string> => text(Math.ceil(bytesMax / 3) * 4, /^[A-Za-z0-9+/]*={0,2}$/);
const line: Check<HeaderLine> = (value): value is HeaderLine =>
  Array.isArray(value) && value.length === 2 && value.every((one) => text(headerBytesMax)(one));
const limits: Check<FetchLimits> = (value): value is FetchLimits =>
  isShape<FetchLimits>(value, {
    headerBytes: whole(1024, headerBytesMax),
    bodyBytes: whole(0, responseBodyBytesMax),
    milliseconds: whole(1, fetchMillisecondsMax),
    redirects: whole(0, redirectsMax),
  });
const secret: Check<SecretMessage> = (value): value is SecretMessage =>
  isShape<SecretMessage>(value, { name, value: base64(65_536), hosts: list(text(300), 64), isSignOnly: flag });
/** Complete: without defaults to fill in. */
const signature: Check<RequestSignature> = (value): value is RequestSignature => {
  if (typeof value !== "object" || value === null) return false;
  const read = readSignature({ ...value });
  return typeof read !== "string" && Object.keys(read).length === Object.keys(value).length;
};
const resolver: Check<ResolverChoice> = orNull((value): value is { readonly servers: readonly string[] } =>
  isShape<{ readonly servers: readonly string[] }>(value, { servers: list(text(64, /^[0-9A-Fa-f.:[\]]+$/), 8) }),
);

export function readFetchMessageToBroker(value: unknown): FetchMessageToBroker | null {
  if (isShape<FetchControl>(value, { kind: exactly("fetch-more", "fetch-stop"), number })) return value;
  const isAsked = isShape<FetchMessage>(value, {
    kind: exactly("fetch"),
    number,
    method,
    url,
    headers: list(line, fetchHeadersMax),
    body: orNull(base64(requestBodyBytesMax)),
    limits,
    secrets: list(secret, fetchSecretsMax),
    sign: orNull(signature),
    resolver,
    authorities: orNull(text(1_048_576)),
  });
  return isAsked ? value : null;
}

const hop: Check<Hop> = (value): value is Hop =>
  isShape<Hop>(value, { method, url: text(headerBytesMax), status: whole(0, 999) });

export function readFetchBrokerMessage(value: unknown): FetchBrokerMessage | null {
  const bytes = base64(pieceBytesMax);
  if (isShape<FetchBytes>(value, { kind: exactly("fetch-bytes"), number, bytes })) return value;
  const isHopping = isShape<HopQuestion>(value, {
    kind: exactly("hop-request"),
    number,
    fetch: number,
    method,
    scheme: exactly<Scheme>("http", "https"),
    host: text(255),
    port: whole(1, 65_535),
    addresses: orNull(list(text(64), addressesMax)),
  });
  if (isHopping) return value;
  const isHead = isShape<FetchHead>(value, {
    kind: exactly("fetch-head"),
    number,
    status: whole(100, 999),
    url: text(headerBytesMax),
    headers: list(line, headerBytesMax),
    hops: list(hop, redirectsMax + 1),
    used: list(name, fetchSecretsMax),
  });
  if (isHead) return value;
  const isEnd = isShape<FetchEnd>(value, {
    kind: exactly("fetch-end"),
    number,
    code: orNull(exactly<DenialCode>(...DENIAL_CODES)),
    message: text(65_536),
    seen: list(name, fetchSecretsMax),
  });
  return isEnd ? value : null;
}
