// Parses the head of one HTTP/1 request so strictly that no server can read it differently.
import type { Destination } from "../../../core/authority/axes/destination.ts";
import type { Reason } from "../denials.ts";
import { headLinesMax } from "../limits.ts";
import { sameHost, spokenHost } from "./inspection.ts";

/** How the request continues after its head. */
export type Body = { readonly kind: "length"; readonly bytes: number } | { readonly kind: "chunks" };

export type Head =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly reason: Reason; readonly other: Destination | null };

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const REQUEST_LINE = new RegExp(`^(${TOKEN}) ([\\x21-\\x7e]+) HTTP/1\\.([01])$`);
/** No folded lines, no space before the colon, no control characters. */
const HEADER_LINE = new RegExp(`^(${TOKEN}):([\\t\\x20-\\x7e\\x80-\\xff]*)$`);
const lengthDigitsMax = 15;

/** `text`: the head without the empty line, one character per byte. */
export function readHead(text: string, host: Destination, port: number): Head {
  const [requestLine, ...lines] = text.split("\r\n");
  const request = REQUEST_LINE.exec(requestLine as string);
  if (request === null || lines.length > headLinesMax) return refused("protocol");
  const [, method, target, minor] = request as unknown as [string, string, string, string];
  const headers = readHeaders(lines);
  // After CONNECT or an upgrade the bytes are of another protocol.
  if (headers === null || method === "CONNECT" || headers.has("upgrade")) return refused("protocol");
  const spoken = headers.get("host");
  if (spoken === undefined || spoken === "") return refused("name_missing");
  for (const authority of [spoken, ...authorityOf(method, target)]) {
    if (authority === null) return refused("protocol");
    const other = hostOf(authority, port);
    if (other === null || !sameHost(other, host)) return { ok: false, reason: "name_differs", other };
  }
  const body = bodyOf(headers, minor === "1");
  return body === null ? refused("protocol") : { ok: true, body };
}

function refused(reason: Reason): Head {
  return { ok: false, reason, other: null };
}

/** Null for a malformed header, and for a duplicate of one that decides where a request goes or ends. */
function readHeaders(lines: readonly string[]): ReadonlyMap<string, string> | null {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const header = HEADER_LINE.exec(line);
    if (header === null) return null;
    const [, name, value] = header as unknown as [string, string, string];
    const key = name.toLowerCase();
    if (ONCE.includes(key) && headers.has(key)) return null;
    headers.set(key, withoutBlanks(value));
  }
  return headers;
}

/** Trims spaces and tabs only: other white space is part of the value. */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && (text[start] === " " || text[start] === "\t")) start++;
  while (end > start && (text[end - 1] === " " || text[end - 1] === "\t")) end--;
  return text.slice(start, end);
}

const ONCE: readonly string[] = ["host", "content-length", "transfer-encoding"];

/** The host in the request target; an empty list for none, a null entry for a malformed target. */
function authorityOf(method: string, target: string): readonly (string | null)[] {
  if (target.startsWith("/")) return [];
  if (target === "*") return method === "OPTIONS" ? [] : [null];
  const absolute = /^http:\/\/([^/?#@]+)(?:[/?][^#]*)?$/i.exec(target);
  return [absolute === null ? null : (absolute[1] as string)];
}

function hostOf(authority: string, port: number): Destination | null {
  const parts = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(authority);
  if (parts === null) return null;
  if (Number(parts[2] ?? "80") !== port) return null;
  return spokenHost(parts[1] as string);
}

function bodyOf(headers: ReadonlyMap<string, string>, isCurrent: boolean): Body | null {
  const length = headers.get("content-length");
  const coding = headers.get("transfer-encoding");
  if (coding !== undefined)
    return isCurrent && length === undefined && coding.toLowerCase() === "chunked" ? { kind: "chunks" } : null;
  if (length === undefined) return { kind: "length", bytes: 0 };
  return /^\d+$/.test(length) && length.length <= lengthDigitsMax ? { kind: "length", bytes: Number(length) } : null;
}
