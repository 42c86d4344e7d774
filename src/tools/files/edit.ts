// fs_edit: reads a file, changes it in memory and writes it back, unless it was changed meanwhile.
import type { Ground } from "../../core/authority/axes/path.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { FileFacts, FilePath, Files } from "../../core/ports/files.ts";
import { displayPath, placeOf, requestFor } from "./call-paths.ts";
import type { FileAnswer, FileCall } from "./file-call.ts";
import { contentBytesMax } from "./limits.ts";
import { failed, refusedWith } from "./refusals.ts";
import { type Edit, replaceAll } from "./replace.ts";
import { exactText, isBinary } from "./text.ts";

export interface EditInput {
  readonly path: string;
  readonly edits: readonly Edit[];
}

export function editCall({ path, edits }: EditInput, ground: Ground): Result<FileCall> {
  const place = placeOf(path, ground);
  if (!place.ok) return place;
  const { segments } = place.value;
  if (edits.some((edit) => /\p{Surrogate}/u.test(edit.old + edit.new)))
    return refuse("bad_value", "an edit has an unpaired surrogate");
  return done({
    requests: [requestFor("fs.read", place.value), requestFor("fs.write", place.value)],
    changes: segments,
    // The result tells whether a text occurs in the file, which counts as reading.
    isReading: true,
    carry: (files) => edit(files, segments, edits, displayPath(segments, ground)),
  });
}

async function edit(files: Files, path: FilePath, edits: readonly Edit[], shown: string): Promise<FileAnswer> {
  const before = await files.stat(path);
  if (!before.ok) return refusedWith(before);
  if (before.value.kind === "link") return failed("scope_violation", "symbolic links are not followed when writing");
  const read = await files.read(path, { offset: 0, bytesMax: contentBytesMax + 1 });
  if (!read.ok) return refusedWith(read);
  if (read.value.length > contentBytesMax)
    return failed("not_available", `files longer than ${contentBytesMax} bytes are not edited`);
  const text = isBinary(read.value) ? null : exactText(read.value);
  if (text === null) return failed("not_available", "the file is not UTF-8 text, so an edit could change other bytes");
  const replaced = replaceAll(text, edits, contentBytesMax);
  if (!replaced.ok) return failed("invalid_input", replaced.message);
  const bytes = Buffer.from(replaced.text);
  if (bytes.length > contentBytesMax) return failed("invalid_input", "the file would become too long");
  const after = await files.stat(path);
  if (!after.ok) return refusedWith(after);
  if (!isSame(before.value, after.value))
    return failed("not_available", "the file changed during the call; read it again");
  const written = await files.write(path, bytes);
  if (!written.ok) return refusedWith(written);
  const made = replaced.edits.map(({ replaced: count, line }) => ({ replaced: count, line }));
  return { ok: true, value: { path: shown, edits: made, bytes: bytes.length } };
}

function isSame(left: FileFacts, right: FileFacts): boolean {
  return (
    left.kind === right.kind && left.bytes === right.bytes && left.modifiedMilliseconds === right.modifiedMilliseconds
  );
}
