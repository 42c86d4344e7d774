// A file that contains a secret is read with a mark in its place. Writing that text back would replace the secret by
// the mark: such a write is refused.
import type { FilePath, FileRefusal, Files } from "../../core/ports/files.ts";
import { isErrno } from "../../runtime/context/file-refusals.ts";
import { fileBytesMax } from "../../runtime/context/limits.ts";
import { fileRefusal } from "../../sandbox/files/refusals.ts";

const MARK = /\[REDACTED:([^\]]{1,128})\]/g;

/** Null if it may be written. `redacted`: the same text without the known secrets. */
export async function markProblem(
  files: Pick<Files, "read">,
  path: FilePath,
  { buffer, byteOffset, length }: Uint8Array,
  redacted: (text: string) => string,
): Promise<FileRefusal | null> {
  const content = Buffer.from(buffer, byteOffset, length);
  if (!content.includes("[REDACTED:")) return null;
  const marks = new Set(content.toString("utf8").match(MARK) ?? []);
  if (marks.size === 0) return null;
  const read = await files.read(path, { offset: 0, bytesMax: fileBytesMax + 1 });
  if (!read.ok) return isErrno(read, "ENOENT") || isErrno(read, "ENOTDIR") ? null : UNKNOWN;
  const before = Buffer.from(read.value).toString("utf8");
  const shown = redacted(before);
  const lost = [...marks].find((mark) => shown.includes(mark) && !before.includes(mark));
  return lost === undefined
    ? null
    : fileRefusal(
        "secret_refused",
        `the file contains a secret, shown to you as ${lost}: writing that placeholder would destroy it. Change other parts with fs_edit`,
      );
}

const UNKNOWN: FileRefusal = fileRefusal(
  "secret_refused",
  "the content contains a placeholder of a secret, and the file cannot be read to check whether writing it would destroy the secret",
);
