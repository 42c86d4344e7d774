// fs_read: lines of a text, or bytes of anything else, limited to one answer.
import { isUtf8 } from "node:buffer";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Context } from "../../runtime/context/context.ts";
import { isBinary } from "../../runtime/context/file-edit.ts";
import type { FilesInstrument } from "../../runtime/context/files.ts";
import { type UseResult, useDenial, useResult } from "../../runtime/context/use-result.ts";
import { displayPath } from "./display-path.ts";
import * as limits from "./limits.ts";
import { LineWindow } from "./line-window.ts";

interface ReadInput {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly numbers?: boolean;
}

/** Large enough for most files. */
const pieceBytes = 262_144;

export async function read(input: JsonObject, { files }: Context): Promise<UseResult<Json>> {
  const given = input as unknown as ReadInput;
  const at = await files.locate(given.path);
  if (!at.ok) return at;
  const shown = displayPath(at.value);
  const first = await files.read(given.path, { offset: 0, bytesMax: pieceBytes });
  if (!first.ok) return first;
  return isBinary(first.value) ? readBytes(files, given, shown) : readLines(files, first.value, given, shown);
}

async function readBytes(files: FilesInstrument, input: ReadInput, shown: string): Promise<UseResult<Json>> {
  const { path, offset = 0, limit = limits.binaryBytesMax } = input;
  // One byte more than is returned shows whether there is more.
  const piece = await files.read(path, { offset, bytesMax: limit + 1 });
  if (!piece.ok) return piece;
  const bytes = piece.value.subarray(0, limit);
  const more = piece.value.length > limit;
  const next = more ? { next: offset + bytes.length } : {};
  const base64 = Buffer.from(bytes).toString("base64");
  return useResult({ path: shown, kind: "binary", base64, bytes: bytes.length, offset, more, ...next });
}

async function readLines(
  files: FilesInstrument,
  first: Uint8Array,
  { path, offset = 0, limit = limits.linesUsual, numbers = false }: ReadInput,
  shown: string,
): Promise<UseResult<Json>> {
  const window = new LineWindow(offset, limit, limits.textBytesMax);
  let at = first.length;
  let isWanting = window.push(first);
  // The file may change between two chunks, as under any reader.
  for (let last = first.length; isWanting && last === pieceBytes; ) {
    if (at >= limits.scanBytesMax)
      return useDenial(
        "not_available",
        "fs.read",
        `only the first ${limits.scanBytesMax} bytes of a file can be read by lines`,
      );
    const piece = await files.read(path, { offset: at, bytesMax: pieceBytes });
    if (!piece.ok) return piece;
    isWanting = window.push(piece.value);
    last = piece.value.length;
    at += last;
  }
  const { text, isExact } = displayText(window.bytes, window.isCut);
  const lines = Math.max(0, window.passed - offset);
  return useResult({
    path: shown,
    kind: "text",
    text: numbers ? numbered(text, offset) : text,
    offset,
    lines,
    more: window.hasMore,
    ...(window.hasMore ? { next: window.passed } : {}),
    ...(window.isCut ? { cut: "the line is too long and was truncated" } : {}),
    ...(isExact ? {} : { note: "some bytes are not UTF-8 and are shown as \uFFFD" }),
  });
}

function numbered(text: string, offset: number): string {
  if (text === "") return "";
  const isEnded = text.endsWith("\n");
  const lines = (isEnded ? text.slice(0, -1) : text).split("\n");
  return `${lines.map((line, at) => `${offset + at + 1}\t${line}`).join("\n")}${isEnded ? "\n" : ""}`;
}

/** Replacement characters for invalid bytes, and none for a character that was cut at the end. */
function displayText(bytes: Uint8Array, isCut: boolean): { readonly text: string; readonly isExact: boolean } {
  if (isUtf8(bytes)) {
    const { buffer, byteOffset, byteLength } = bytes;
    return { text: Buffer.from(buffer, byteOffset, byteLength).toString("utf8"), isExact: true };
  }
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: isCut });
  return { text, isExact: isCut && !text.includes("\uFFFD") };
}
