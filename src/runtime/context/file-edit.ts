// An edit of a file: read, changed in memory and written back, unless it was changed meanwhile.

import { utf8Bytes } from "../../core/base/bytes.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { FileFacts, FilePath, FileRefusal, FileResult, Files } from "../../core/ports/files.ts";
import { editBytesMax, editCharactersMax, editsMax } from "./limits.ts";
import { type Edit, type EditReport, replaceAll } from "./replace.ts";
import { optionsOf } from "./use-result.ts";

export interface FileEditReport {
  readonly edits: readonly EditReport[];
  /** Of the file afterwards. */
  readonly bytes: number;
}

/** Each property is read once. */
export function readEdits(value: unknown): Result<readonly Edit[]> {
  if (!Array.isArray(value) || value.length === 0 || value.length > editsMax)
    return refuse("bad_value", `a list of at most ${editsMax} edits was expected`);
  const edits: Edit[] = [];
  for (const one of Array.from({ length: value.length }, (_, at): unknown => value[at])) {
    const read = optionsOf(one, ["old", "new", "all"]);
    const [old, text, all = false] = [read?.["old"], read?.["new"], read?.["all"]];
    if (!isEditText(old) || old === "" || !isEditText(text) || typeof all !== "boolean")
      return refuse("bad_value", `an edit has \`old\` and \`new\`, texts of at most ${editCharactersMax} characters`);
    if (/\p{Surrogate}/u.test(old + text)) return refuse("bad_value", "an edit has an unpaired surrogate");
    edits.push({ old, new: text, all });
  }
  return done(edits);
}

function isEditText(value: unknown): value is string {
  return typeof value === "string" && value.length <= editCharactersMax;
}

export async function editFile(
  files: Files,
  path: FilePath,
  edits: readonly Edit[],
): Promise<FileResult<FileEditReport>> {
  const before = await files.stat(path);
  if (!before.ok) return before;
  if (before.value.kind === "link") return refused("scope_violation", "symbolic links are not followed when writing");
  const read = await files.read(path, { offset: 0, bytesMax: editBytesMax + 1 });
  if (!read.ok) return read;
  if (read.value.length > editBytesMax)
    return refused("not_available", `files longer than ${editBytesMax} bytes are not edited`);
  const text = isBinary(read.value) ? null : exactText(read.value);
  if (text === null) return refused("not_available", "the file is not UTF-8 text, so an edit could change other bytes");
  const replaced = replaceAll(text, edits, editBytesMax);
  if (!replaced.ok) return refused("invalid_input", replaced.message);
  const bytes = utf8Bytes(replaced.text);
  if (bytes.length > editBytesMax) return refused("invalid_input", "the file would become too long");
  const after = await files.stat(path);
  if (!after.ok) return after;
  if (!isSame(before.value, after.value))
    return refused("not_available", "the file changed during the call; read it again");
  const written = await files.write(path, bytes);
  if (!written.ok) return written;
  return { ok: true, value: Object.freeze({ edits: Object.freeze(replaced.edits), bytes: bytes.length }) };
}

/** A NUL near the beginning: text has none. */
const lookedBytes = 8_192;

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, lookedBytes).includes(0);
}

/** Null if it is not UTF-8. A byte order mark is kept as a character. */
function exactText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function refused(code: FileRefusal["code"], reason: string): FileRefusal {
  return { ok: false, code, reason };
}

function isSame(left: FileFacts, right: FileFacts): boolean {
  return (
    left.kind === right.kind && left.bytes === right.bytes && left.modifiedMilliseconds === right.modifiedMilliseconds
  );
}
