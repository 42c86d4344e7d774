// Reads a small text file: refuses folders, devices, pipes, and bytes that are not UTF-8.

import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import type { CodedFailure } from "../core/base/result.ts";

export type TextFile =
  | { readonly ok: true; readonly text: string }
  /** The message continues after the file's name: "is not a plain file". */
  | CodedFailure<TextFileCode>;

export type TextFileCode = "not_found" | "not_a_file" | "not_readable" | "too_large" | "not_utf8";

/** UTF-8 needs at most three bytes for one UTF-16 unit. */
const bytesPerCharacterMax = 3;
const chunkBytes = 65_536;

/** At most that many characters; a longer file is refused, never truncated. */
export function readTextFile(path: string, charactersMax: number): TextFile {
  try {
    // Checked before it is opened: opening a device can have effects.
    if (!statSync(path).isFile()) return refuse("not_a_file", "is not a plain file");
    // O_NONBLOCK: if it has become a pipe since, open does not wait for a writer.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      if (!fstatSync(file).isFile()) return refuse("not_a_file", "is not a plain file");
      const bytes = readBounded(file, charactersMax * bytesPerCharacterMax);
      const text = bytes === null ? null : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
      if (text === null || text.length > charactersMax)
        return refuse("too_large", `is longer than ${charactersMax} characters`);
      return { ok: true, text };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return unreadable(error);
  }
}

/** Null where the file is longer. The reported size is not used: the file may grow, and files of /proc report zero. */
function readBounded(file: number, bytesMax: number): Uint8Array | null {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const chunk = new Uint8Array(Math.min(chunkBytes, bytesMax - length + 1));
    const count = readSync(file, chunk, 0, chunk.length, null);
    if (count === 0) return Buffer.concat(chunks);
    length += count;
    if (length > bytesMax) return null;
    chunks.push(chunk.subarray(0, count));
  }
}

function unreadable(error: unknown): TextFile {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return refuse("not_utf8", "is not UTF-8 text");
  if (code === "ENOENT" || code === "ENOTDIR") return refuse("not_found", `does not exist (${code})`);
  return refuse("not_readable", `cannot be read (${code})`);
}

function refuse(code: TextFileCode, message: string): TextFile {
  return { ok: false, code, message };
}
