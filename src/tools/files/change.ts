// fs_write and fs_delete: one path, atomically.
import type { Ground } from "../../core/authority/axes/path.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { FilePath, FileResult, Files } from "../../core/ports/files.ts";
import { displayPath, placeOf, requestFor } from "./call-paths.ts";
import type { FileCall } from "./file-call.ts";
import { contentBytesMax } from "./limits.ts";
import { isErrno, refusedWith } from "./refusals.ts";

export interface WriteInput {
  readonly path: string;
  readonly content: string;
}

export interface DeleteInput {
  readonly path: string;
}

export function writeCall({ path, content }: WriteInput, ground: Ground): Result<FileCall> {
  const place = placeOf(path, ground);
  if (!place.ok) return place;
  const { segments } = place.value;
  const length = Buffer.byteLength(content);
  // A lone surrogate would be written as another character. If every character is one byte, there is none.
  if (length !== content.length && /\p{Surrogate}/u.test(content))
    return refuse("bad_value", "the content has an unpaired surrogate");
  if (length > contentBytesMax) return refuse("too_long", `the content is longer than ${contentBytesMax} bytes`);
  return done({
    requests: [requestFor("fs.write", place.value)],
    changes: segments,
    isReading: false,
    carry: async (files) => {
      const bytes = Buffer.from(content);
      const once = await files.write(segments, bytes);
      const isWithoutFolder = !once.ok && isErrno(once, "ENOENT");
      const made = isWithoutFolder ? await makeFolders(files, segments.slice(0, -1)) : once;
      const written = isWithoutFolder && made.ok ? await files.write(segments, bytes) : made;
      if (!written.ok) return refusedWith(written);
      return { ok: true, value: { path: displayPath(segments, ground), bytes: bytes.length } };
    },
  });
}

/** Creates missing folders above a file. Each is decided on its own, as a change of that folder. */
async function makeFolders(files: Files, folder: FilePath): Promise<FileResult<null>> {
  const missing: FilePath[] = [];
  let made = await files.makeFolder(folder);
  for (let at = folder; !made.ok && isErrno(made, "ENOENT") && at.length > 1; made = await files.makeFolder(at)) {
    missing.push(at);
    at = at.slice(0, -1);
  }
  for (const at of missing.reverse()) {
    // Another process may have created it since.
    if (!made.ok && !isErrno(made, "EEXIST")) return made;
    made = await files.makeFolder(at);
  }
  return !made.ok && isErrno(made, "EEXIST") ? { ok: true, value: null } : made;
}

export function deleteCall({ path }: DeleteInput, ground: Ground): Result<FileCall> {
  const place = placeOf(path, ground);
  if (!place.ok) return place;
  const { segments } = place.value;
  return done({
    requests: [requestFor("fs.delete", place.value)],
    changes: segments,
    isReading: false,
    carry: async (files) => {
      const gone = await files.remove(segments);
      return gone.ok ? { ok: true, value: { path: displayPath(segments, ground), deleted: true } } : refusedWith(gone);
    },
  });
}
