// fs_write and fs_delete: one name, wholly or not at all.
import type { Ground } from "../../authority/path.ts";
import { done, type Result, refuse } from "../../authority/result.ts";
import type { FileCall } from "./file-call.ts";
import { contentBytesMax } from "./limits.ts";
import { placeOf, requestFor, shownPath } from "./places.ts";
import { failed, isErrno, refusedWith } from "./refusals.ts";

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
  // Half a character would be written as another one.
  if (/\p{Surrogate}/u.test(content)) return refuse("bad_value", "the content holds half a character");
  if (Buffer.byteLength(content) > contentBytesMax)
    return refuse("too_long", `the content is longer than ${contentBytesMax} bytes`);
  return done({
    requests: [requestFor("fs.write", place.value)],
    changes: segments,
    isReading: false,
    carry: async (files) => {
      const bytes = Buffer.from(content);
      const written = await files.write(segments, bytes);
      if (written.ok) return { ok: true, value: { path: shownPath(segments, ground), bytes: bytes.length } };
      return isErrno(written, "ENOENT")
        ? failed(written.code, "its folder is not there, and folders are not made by writing")
        : refusedWith(written);
    },
  });
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
      return gone.ok ? { ok: true, value: { path: shownPath(segments, ground), deleted: true } } : refusedWith(gone);
    },
  });
}
