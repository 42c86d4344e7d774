// Paths an index may hold. A path is a byte string: one character for each byte, so that every name git can store is exact.

const pathBytesMax = 4_096;

/**
 * What git, HFS+ or NTFS would open as `.git`: ignorable characters removed, any case, trailing dots and spaces, a stream,
 * behind a backslash, and the short name `git~1`. The same names `git fsck` refuses in trees.
 */
function isGitName(name: string): boolean {
  // UTF-8 bytes of the characters HFS+ ignores: U+200C-200F, U+202A-202E, U+206A-206F, U+FEFF.
  const visible = name.replace(/\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g, "");
  return visible.split("\\").some((part) => /^(\.git|git~[1-4])[ .]*(:.*)?$/is.test(part));
}

/** Whether an index entry may have this path. */
export function isTreePath(path: string): boolean {
  if (path === "" || path.length > pathBytesMax || path.includes("\0")) return false;
  return path.split("/").every((name) => name !== "" && name !== "." && name !== ".." && !isGitName(name));
}

/** Modes of files, programs, links and submodules; git stores no others. */
export const ENTRY_MODES: readonly number[] = [0o100644, 0o100755, 0o120000, 0o160000];
