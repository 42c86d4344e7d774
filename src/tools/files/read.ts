// fs_read: lines of a text, or bytes of anything else, limited to one answer.
import type { Ground } from "../../core/authority/axes/path.ts";
import { done, type Result } from "../../core/base/result.ts";
import type { FilePath, Files } from "../../core/ports/files.ts";
import { displayPath, placeOf, requestFor } from "./call-paths.ts";
import type { FileAnswer, FileCall } from "./file-call.ts";
import * as limits from "./limits.ts";
import { LineWindow } from "./line-window.ts";
import { failed, refusedWith } from "./refusals.ts";
import { displayText, isBinary } from "./text.ts";

export interface ReadInput {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly numbers?: boolean;
}

/** Large enough for most files. */
const pieceBytes = 262_144;

export function readCall(input: ReadInput, ground: Ground): Result<FileCall> {
  const place = placeOf(input.path, ground);
  if (!place.ok) return place;
  const { segments } = place.value;
  return done({
    requests: [requestFor("fs.read", place.value)],
    changes: null,
    isReading: true,
    carry: (files) => read(files, segments, input, displayPath(segments, ground)),
  });
}

async function read(files: Files, path: FilePath, input: ReadInput, shown: string): Promise<FileAnswer> {
  const first = await files.read(path, { offset: 0, bytesMax: pieceBytes });
  if (!first.ok) return refusedWith(first);
  return isBinary(first.value)
    ? readBytes(files, path, input, shown)
    : readLines(files, path, first.value, input, shown);
}

async function readBytes(files: Files, path: FilePath, input: ReadInput, shown: string): Promise<FileAnswer> {
  const { offset = 0, limit = limits.binaryBytesMax } = input;
  // One byte more than is returned shows whether there is more.
  const piece = await files.read(path, { offset, bytesMax: limit + 1 });
  if (!piece.ok) return refusedWith(piece);
  const bytes = piece.value.subarray(0, limit);
  const more = piece.value.length > limit;
  const next = more ? { next: offset + bytes.length } : {};
  const base64 = Buffer.from(bytes).toString("base64");
  return { ok: true, value: { path: shown, kind: "binary", base64, bytes: bytes.length, offset, more, ...next } };
}

async function readLines(
  files: Files,
  path: FilePath,
  first: Uint8Array,
  { offset = 0, limit = limits.linesUsual, numbers = false }: ReadInput,
  shown: string,
): Promise<FileAnswer> {
  const window = new LineWindow(offset, limit, limits.textBytesMax);
  let at = first.length;
  let isWanting = window.push(first);
  // The file may change between two chunks, as under any reader.
  for (let last = first.length; isWanting && last === pieceBytes; ) {
    if (at >= limits.scanBytesMax)
      return failed("not_available", `only the first ${limits.scanBytesMax} bytes of a file can be read by lines`);
    const piece = await files.read(path, { offset: at, bytesMax: pieceBytes });
    if (!piece.ok) return refusedWith(piece);
    isWanting = window.push(piece.value);
    last = piece.value.length;
    at += last;
  }
  const { text, isExact } = displayText(window.bytes, window.isCut);
  const lines = Math.max(0, window.passed - offset);
  return {
    ok: true,
    value: {
      path: shown,
      kind: "text",
      text: numbers ? numbered(text, offset) : text,
      offset,
      lines,
      more: window.hasMore,
      ...(window.hasMore ? { next: window.passed } : {}),
      ...(window.isCut ? { cut: "the line is too long and was truncated" } : {}),
      ...(isExact ? {} : { note: "some bytes are not UTF-8 and are shown as \uFFFD" }),
    },
  };
}

function numbered(text: string, offset: number): string {
  if (text === "") return "";
  const isEnded = text.endsWith("\n");
  const lines = (isEnded ? text.slice(0, -1) : text).split("\n");
  return `${lines.map((line, at) => `${offset + at + 1}\t${line}`).join("\n")}${isEnded ? "\n" : ""}`;
}
