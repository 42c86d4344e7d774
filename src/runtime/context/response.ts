// The result of a fetch: shaped like the platform's response, plain, with its complete body.

import { utf8Text } from "../../core/base/bytes.ts";
import type { HttpResponse } from "../../core/ports/instruments.ts";
import { sealMembers } from "./life.ts";

export interface FetchedHeaders {
  /** All values of a name, joined by commas; null if there is none. */
  get(name: string): string | null;
  has(name: string): boolean;
  entries(): readonly (readonly [string, string])[];
}

export interface FetchedResponse {
  readonly status: number;
  /** 200 to 299. */
  readonly ok: boolean;
  /** The final URL after redirects. */
  readonly url: string;
  readonly redirected: boolean;
  readonly redirects: number;
  /** Whether the body is longer than what was read. */
  readonly truncated: boolean;
  readonly headers: FetchedHeaders;
  text(): Promise<string>;
  /** Rejects if the body is not JSON, as the platform's does. */
  json(): Promise<unknown>;
  bytes(): Promise<Uint8Array>;
}

export function responseOf({ status, headers, body, url, redirects, isTruncated }: HttpResponse): FetchedResponse {
  const pairs = Object.freeze(headers.map(([name, value]) => Object.freeze([name.toLowerCase(), value] as const)));
  const valuesOf = (name: unknown): readonly string[] => {
    const lower = typeof name === "string" ? name.toLowerCase() : "";
    return pairs.flatMap(([one, value]) => (one === lower ? [value] : []));
  };
  return sealMembers({
    status,
    ok: status >= 200 && status <= 299,
    url,
    redirected: redirects > 0,
    redirects,
    truncated: isTruncated,
    headers: sealMembers({
      get: (name: string) => {
        const values = valuesOf(name);
        return values.length === 0 ? null : values.join(", ");
      },
      has: (name: string) => valuesOf(name).length > 0,
      entries: () => pairs,
    }),
    text: async () => utf8Text(body),
    json: async () => JSON.parse(utf8Text(body)) as unknown,
    bytes: async () => new Uint8Array(body),
  });
}
