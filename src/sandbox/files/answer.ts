// What the worker answers, read to its last byte; null is what does not parse, and ends the worker.
import type { FileFacts } from "../../core/ports/files.ts";
import { PayloadReader } from "../plan/start/frame.ts";

export type Answer =
  | { readonly status: "done"; readonly body: Buffer }
  | { readonly status: "refused"; readonly errno: number; readonly why: string }
  /** The real path; null where it has no spelling here. */
  | { readonly status: "link"; readonly real: readonly string[] | null };

/** Behind the number. */
export function readAnswer(payload: Buffer): Answer | null {
  const body = payload.subarray(5);
  switch (payload[4]) {
    case 0:
      return { status: "done", body };
    case 1: {
      const reader = new PayloadReader(body);
      const errno = reader.u32();
      const why = reader.text();
      if (errno === null || why === null || reader.rest().length > 0) return null;
      return { status: "refused", errno, why: Buffer.from(why).toString("utf8") };
    }
    case 2: {
      const reader = new PayloadReader(body);
      const real = textOf(reader.text());
      return reader.rest().length > 0 ? null : { status: "link", real: real === null ? null : absolute(real) };
    }
    default:
      return null;
  }
}

/** Names that are no UTF-8 have no spelling as text. */
export function textOf(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return text.includes("\uFFFD") && !Buffer.from(text).equals(bytes) ? null : text;
}

function absolute(text: string): readonly string[] | null {
  return text.startsWith("/") ? text.split("/").filter((name) => name !== "") : null;
}

export interface Piece {
  readonly size: number;
  readonly bytes: Uint8Array;
}

export function readPiece(body: Buffer): Piece | null {
  return body.length < 8 ? null : { size: Number(body.readBigUInt64LE(0)), bytes: body.subarray(8) };
}

export function readNothing(body: Buffer): true | null {
  return body.length === 0 ? true : null;
}

const KINDS: readonly FileFacts["kind"][] = ["file", "folder", "link", "other"];

export function readFacts(body: Buffer): FileFacts | null {
  const reader = new PayloadReader(body);
  const kind = KINDS[reader.u8() ?? -1];
  const [bytes, modified, mode, links] = [reader.u64(), reader.u64(), reader.u32(), reader.u32()];
  if (kind === undefined || bytes === null || modified === null || mode === null || links === null) return null;
  if (reader.rest().length > 0) return null;
  return { kind, bytes: Number(bytes), modifiedMilliseconds: Number(modified), mode, links };
}

/** `path` is null for a name that is no text. */
export interface Listed {
  readonly path: string | null;
  readonly kind: FileFacts["kind"];
}

export interface Some<T> {
  /** Something was left out: a bound was reached. */
  readonly more: boolean;
  readonly items: readonly T[];
}

export function readEntries(body: Buffer): Some<Listed> | null {
  return readSome(body, (reader) => {
    const kind = KINDS[reader.u8() ?? -1];
    const path = reader.text();
    return kind === undefined || path === null ? null : { path: textOf(path), kind };
  });
}

export interface Found {
  readonly path: string | null;
  readonly line: number;
  readonly text: string;
}

export function readMatches(body: Buffer): Some<Found> | null {
  return readSome(body, (reader) => {
    const [path, line, text] = [reader.text(), reader.u32(), reader.text()];
    if (path === null || line === null || text === null) return null;
    return { path: textOf(path), line, text: Buffer.from(text).toString("utf8") };
  });
}

function readSome<T>(body: Buffer, read: (reader: PayloadReader) => T | null): Some<T> | null {
  const reader = new PayloadReader(body);
  const [more, count] = [reader.u8(), reader.u32()];
  if (more === null || count === null || count > body.length) return null;
  const items: T[] = [];
  for (let at = 0; at < count; at++) {
    const item = read(reader);
    if (item === null) return null;
    items.push(item);
  }
  return reader.rest().length > 0 ? null : { more: more !== 0, items };
}
