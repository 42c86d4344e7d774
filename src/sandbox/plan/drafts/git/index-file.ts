// Parses git's index (`.git/index`, versions 2 to 4) strictly: mode, id, stage and path of each entry, and its flags.
// Stat data and extensions are never carried over. The checksum is verified by the caller.

import { type GitResult, printable, refuseGit, value } from "./git-refusal.ts";
import { ID_BYTES, isObjectId, type ObjectFormat } from "./object-id.ts";
import { ENTRY_MODES, isTreePath } from "./tree-path.ts";

export interface IndexEntry {
  readonly mode: number;
  readonly id: string;
  /** 0, or 1 to 3 for the sides of a conflict. */
  readonly stage: number;
  /** A byte string: one character for each byte. */
  readonly path: string;
}

export type IndexFlag = "assume-unchanged" | "skip-worktree" | "intent-to-add";

export interface GitIndex {
  /** In the order of the file: by path, then by stage. */
  readonly entries: readonly IndexEntry[];
  readonly flagged: readonly { readonly path: string; readonly flag: IndexFlag }[];
}

/** Reads bytes as text of one character per byte, and as hexadecimal digits. */
export interface ByteText {
  latin(bytes: Uint8Array, from: number, to: number): string;
  hex(bytes: Uint8Array, from: number, to: number): string;
}

export const indexBytesMax: number = 128 * 1_048_576;
const indexEntriesMax = 500_000;
/** Of all paths: version 4 repeats the start of a path by its length, so that a small file can name any amount. */
const pathBytesMax: number = indexBytesMax;
const headerBytes = 12;
const statBytes = 40;

export function parseIndex(bytes: Uint8Array, format: ObjectFormat, text: ByteText): GitResult<GitIndex> {
  const idBytes = ID_BYTES[format];
  const end = bytes.length - idBytes;
  if (end < headerBytes || text.latin(bytes, 0, 4) !== "DIRC") return refuseGit("malformed", "the index has no header");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const version = view.getUint32(4);
  const count = view.getUint32(8);
  if (version < 2 || version > 4) return refuseGit("unsupported", `the index has version ${version}; 2 to 4 are known`);
  if (count > indexEntriesMax) return refuseGit("too_large", `the index has more than ${indexEntriesMax} entries`);
  const entries: IndexEntry[] = [];
  const flagged: { path: string; flag: IndexFlag }[] = [];
  let at = headerBytes;
  let pathBytes = 0;
  let last: IndexEntry | null = null;
  // Reported only after the extensions: the entries of a split index mean something else.
  let problem: GitResult<GitIndex> | null = null;
  for (let entry = 0; entry < count; entry += 1) {
    const fixed = at + statBytes + idBytes + 2;
    if (fixed > end) return refuseGit("malformed", "the index ends in the middle of an entry");
    const mode = view.getUint32(at + 24);
    const id = text.hex(bytes, at + statBytes, at + statBytes + idBytes);
    const flags = view.getUint16(fixed - 2);
    const isExtended = (flags & 0x4000) !== 0;
    if (isExtended && (version < 3 || fixed + 2 > end)) return refuseGit("malformed", "the index has invalid flags");
    const more = isExtended ? view.getUint16(fixed) : 0;
    if ((more & ~0x6000) !== 0) return refuseGit("unsupported", "the index has entries with unknown flags");
    const name = readName(bytes, end, isExtended ? fixed + 2 : fixed, at, version === 4, last?.path ?? "", text);
    if (name === null) return refuseGit("malformed", "the index has a damaged path");
    const { path, next } = name;
    pathBytes += path.length;
    if (pathBytes > pathBytesMax)
      return refuseGit("too_large", `the paths of the index have more than ${pathBytesMax} bytes`);
    const stage = (flags >> 12) & 3;
    if (!ENTRY_MODES.includes(mode))
      problem ??= refuseGit("unsupported", `the index has an entry of mode ${mode.toString(8)}: ${printable(path)}`);
    if (!isObjectId(id, format)) problem ??= refuseGit("malformed", `the index has no object for ${printable(path)}`);
    if (!isTreePath(path))
      problem ??= refuseGit("bad_name", `the index has a path that is never imported: ${printable(path)}`);
    const found: IndexEntry = { mode, id, stage, path };
    if (last !== null && !isBefore(last, found)) problem ??= refuseGit("malformed", "the index is not in order");
    if ((flags & 0x8000) !== 0) flagged.push({ path, flag: "assume-unchanged" });
    if ((more & 0x4000) !== 0) flagged.push({ path, flag: "skip-worktree" });
    if ((more & 0x2000) !== 0) flagged.push({ path, flag: "intent-to-add" });
    entries.push(found);
    last = found;
    at = next;
  }
  const extension = requiredExtension(bytes, view, at, end, text);
  if (!extension.ok) return extension;
  return problem ?? value({ entries, flagged });
}

function readName(
  bytes: Uint8Array,
  end: number,
  from: number,
  start: number,
  isCompressed: boolean,
  before: string,
  text: ByteText,
): { readonly path: string; readonly next: number } | null {
  let at = from;
  let kept = "";
  if (isCompressed) {
    // A variable-length number: how many bytes at the end of the previous path are dropped.
    let dropped = 0;
    for (let digits = 0; ; digits += 1) {
      const byte = bytes[at];
      if (byte === undefined || at >= end || digits > 3) return null;
      at += 1;
      dropped = (digits === 0 ? 0 : (dropped + 1) << 7) + (byte & 0x7f);
      if ((byte & 0x80) === 0) break;
    }
    if (dropped > before.length) return null;
    kept = before.slice(0, before.length - dropped);
  }
  const zero = bytes.indexOf(0, at);
  if (zero < 0 || zero >= end) return null;
  const path = kept + text.latin(bytes, at, zero);
  if (isCompressed) return { path, next: zero + 1 };
  // One to eight zero bytes up to a multiple of eight from the start of the entry.
  const next = start + ((zero - start + 8) & ~7);
  if (next > end) return null;
  for (let padding = zero; padding < next; padding += 1) if (bytes[padding] !== 0) return null;
  return { path, next };
}

function isBefore(left: IndexEntry, right: IndexEntry): boolean {
  return left.path < right.path || (left.path === right.path && left.stage !== 0 && left.stage < right.stage);
}

/** Extensions whose name starts with a capital may be skipped; others (`link`, `sdir`) change what the entries mean. */
function requiredExtension(
  bytes: Uint8Array,
  view: DataView,
  from: number,
  end: number,
  text: ByteText,
): GitResult<null> {
  let at = from;
  while (at < end) {
    if (at + 8 > end) return refuseGit("malformed", "the index has a damaged extension");
    const name = text.latin(bytes, at, at + 4);
    if (!/^[A-Z]/.test(name))
      return refuseGit(
        "unsupported",
        name === "link"
          ? "the index is split (core.splitIndex); run `git update-index --no-split-index`"
          : name === "sdir"
            ? "the index is sparse; run `git sparse-checkout reapply --no-sparse-index`"
            : `the index needs the unknown extension ${printable(name)}`,
      );
    at += 8 + view.getUint32(at + 4);
  }
  return at === end ? value(null) : refuseGit("malformed", "the index has a damaged extension");
}
