// The result of web_fetch: the final address, the type, and the text.
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import type { ContentKind } from "./content.ts";
import type { WebFormat } from "./definition.ts";
import { answerTextBytesMax } from "./limits.ts";

export interface WebResult {
  readonly status: number;
  /** The final address. */
  readonly url: string;
  /** Redirects on the way. */
  readonly hops: number;
  readonly contentType: string | null;
  readonly title?: string;
  readonly text: string;
  /** Whether the text is truncated. */
  readonly more: boolean;
  /** Bytes read of the response. */
  readonly bytes: number;
  /** The conversion still to be done, outside of the daemon: it does not parse pages itself. */
  readonly pending?: { readonly kind: ContentKind; readonly format: WebFormat };
}

export function webResultData(result: WebResult): JsonObject {
  const { pending, title, ...rest } = result;
  const fitted = fitText(rest.text, answerTextBytesMax);
  return {
    ...rest,
    text: fitted,
    more: rest.more || fitted.length < rest.text.length,
    ...(title === undefined ? {} : { title }),
    ...(pending === undefined ? {} : { pending: { ...pending } }),
  };
}

/** Null for any other result, which is shown unchanged. */
export function readPending(result: Json): {
  readonly result: JsonObject;
  readonly text: string;
  readonly url: string;
  readonly kind: "html" | "json";
  readonly format: "markdown" | "text";
} | null {
  if (!isJsonObject(result)) return null;
  const [text, url, pending] = [member(result, "text"), member(result, "url"), member(result, "pending")];
  if (typeof text !== "string" || typeof url !== "string" || !isJsonObject(pending)) return null;
  const { kind, format } = pending;
  if (kind !== "html" && kind !== "json") return null;
  return format === "markdown" || format === "text" ? { result, text, url, kind, format } : null;
}

/** The longest prefix that fits in this many bytes of JSON. */
export function fitText(text: string, bytesMax: number): string {
  if (text.length * 6 <= bytesMax) return text;
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const unit = text.charCodeAt(end);
    const isPair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(end + 1) & 0xfc00) === 0xdc00;
    bytes += isPair ? 4 : unitBytes(unit);
    if (bytes > bytesMax) break;
    end += isPair ? 2 : 1;
  }
  return text.slice(0, end);
}

function unitBytes(unit: number): number {
  if (unit === 0x22 || unit === 0x5c) return 2;
  if (unit < 0x20 || (unit >= 0xd800 && unit < 0xe000)) return 6;
  return unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
}
