// The built-in file tools: what each requests, and what it does with the files of its context.

import { isUtf8 } from "node:buffer";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { type Result, refuse } from "../../core/base/result.ts";
import type { Context } from "../../runtime/context/context.ts";
import { isBinary, readEdits } from "../../runtime/context/file-edit.ts";
import type { FilesInstrument } from "../../runtime/context/files.ts";
import { editBytesMax } from "../../runtime/context/limits.ts";
import type { Edit } from "../../runtime/context/replace.ts";
import { type UseResult, useDenial, useResult } from "../../runtime/context/use-result.ts";
import { type BuiltinTool, type CallReading, requestsFor } from "../../runtime/tool/builtin.ts";
import { FILE_TOOL_DEFINITIONS, type FileToolName } from "./definitions.ts";
import { displayPath, glob, globRequests, grep, grepRequests, list } from "./find.ts";
import * as limits from "./limits.ts";
import { LineWindow } from "./line-window.ts";

interface PathInput {
  readonly path: string;
}

interface WriteInput extends PathInput {
  readonly content: string;
}

interface EditInput extends PathInput {
  readonly edits: readonly Edit[];
}

const ACTS: Readonly<Record<FileToolName, Pick<BuiltinTool, "requests" | "execute">>> = {
  fs_read: { requests: pathRequests("fs.read"), execute: read },
  fs_write: { requests: writeRequests, execute: write },
  fs_edit: { requests: editRequests, execute: edit },
  fs_delete: { requests: pathRequests("fs.delete"), execute: remove },
  fs_list: { requests: pathRequests("fs.read"), execute: list },
  fs_glob: { requests: globRequests, execute: glob },
  fs_grep: { requests: grepRequests, execute: grep },
};

export const FILE_TOOLS: readonly BuiltinTool[] = FILE_TOOL_DEFINITIONS.map((definition) => ({
  ...definition,
  ...ACTS[definition.name],
}));

/** Of the named path; of the working folder by default. */
function pathRequests(verb: "fs.read" | "fs.delete"): BuiltinTool["requests"] {
  return (input, reading) => {
    const { path = "." } = input as Partial<PathInput>;
    return requestsFor(reading, { verb, path });
  };
}

function writeRequests(input: JsonObject, reading: CallReading): Result<readonly Request[]> {
  const { path, content } = input as unknown as WriteInput;
  const length = Buffer.byteLength(content);
  // A lone surrogate would be written as another character. If every character is one byte, there is none.
  if (length !== content.length && /\p{Surrogate}/u.test(content))
    return refuse("bad_value", "the content has an unpaired surrogate");
  if (length > editBytesMax) return refuse("too_long", `the content is longer than ${editBytesMax} bytes`);
  return requestsFor(reading, { verb: "fs.write", path });
}

async function write(input: JsonObject, { files }: Context): Promise<UseResult<Json>> {
  const { path, content } = input as unknown as WriteInput;
  const at = await files.locate(path);
  if (!at.ok) return at;
  const written = await files.write(path, content, { folders: true });
  return written.ok ? useResult({ path: displayPath(at.value), bytes: Buffer.byteLength(content) }) : written;
}

function editRequests(input: JsonObject, reading: CallReading): Result<readonly Request[]> {
  const { path, edits } = input as unknown as EditInput;
  const read = readEdits(edits);
  return read.ok ? requestsFor(reading, { verb: "fs.read", path }, { verb: "fs.write", path }) : read;
}

async function edit(input: JsonObject, { files }: Context): Promise<UseResult<Json>> {
  const { path, edits } = input as unknown as EditInput;
  const at = await files.locate(path);
  if (!at.ok) return at;
  const edited = await files.edit(path, edits);
  if (!edited.ok) return edited;
  const made = edited.value.edits.map(({ replaced, line }) => ({ replaced, line }));
  return useResult({ path: displayPath(at.value), edits: made, bytes: edited.value.bytes });
}

async function remove(input: JsonObject, { files }: Context): Promise<UseResult<Json>> {
  const { path } = input as unknown as PathInput;
  const at = await files.locate(path);
  if (!at.ok) return at;
  const gone = await files.remove(path);
  return gone.ok ? useResult({ path: displayPath(at.value), deleted: true }) : gone;
}

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
