// Reads a small text file and nothing else: no folder, no device, no pipe that never ends, no bytes that are no text.
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";

export type TextFile =
  | { readonly ok: true; readonly text: string }
  /** The message goes on from the file's name: "is not a plain file". */
  | { readonly ok: false; readonly code: TextFileCode; readonly message: string };

export type TextFileCode = "not_found" | "not_a_file" | "not_readable" | "too_large" | "not_utf8";

/** UTF-8 needs at most three bytes for one UTF-16 unit. */
const bytesPerCharacterMax = 3;
const chunkBytes = 65_536;

/** At most that many characters; one more is a refusal, not a shortened text. */
export function readTextFile(path: string, charactersMax: number): TextFile {
  try {
    // Looked at before it is opened: to open a device can already be an act.
    if (!statSync(path).isFile()) return refuse("not_a_file", "is not a plain file");
    // Should it have become a pipe since, this open does not wait for a writer.
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

/** Null when there is more. The size a file claims is not asked: it may grow, and those of /proc say zero. */
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
  if (code === "ENOENT" || code === "ENOTDIR") return refuse("not_found", `is not there (${code})`);
  return refuse("not_readable", `cannot be read (${code})`);
}

function refuse(code: TextFileCode, message: string): TextFile {
  return { ok: false, code, message };
}
