// Edits a text file atomically, without losing another edit. A folder lock serializes our own edits; whether the text
// is still the one that was read is checked again before the rename.
import { randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { sha256 } from "./digest.ts";
import { readTextFile } from "./files.ts";
import { takeFolderLock } from "./folder-lock.ts";
import { forget, pastOf, remember, type UndoEntry } from "./undo.ts";
import { syncFolder } from "./write-whole.ts";

export interface EditOptions {
  /** The user's state folder. */
  readonly state: string;
  /** No file outside this folder is changed, whatever links lead to. */
  readonly inside: string;
  readonly charactersMax: number;
}

/**
 * Computes the new text from the old one; null: the file does not exist. `past`: the edit of ours that produced the
 * text, if any.
 */
export type Change<R> = (text: string | null, past: UndoEntry | null) => EditChange<R>;
export type EditChange<R> =
  | { readonly kind: "write"; readonly text: string }
  | { readonly kind: "remove" }
  /** The text before the edit that produced the current one. */
  | { readonly kind: "undo"; readonly past: UndoEntry }
  /** The file should exist and does not. */
  | { readonly kind: "gone" }
  | { readonly kind: "refuse"; readonly refusal: R };

export type EditResult<R> =
  /** `others`: further hard links of the file, which still have the old text. */
  | { readonly kind: "done"; readonly others: number }
  | { readonly kind: "refused"; readonly refusal: R }
  | { readonly kind: "failed"; readonly message: string };

const retriesMax = 16;
const DRAFT = "ambit-draft";

export function editFile<R>(path: string, place: EditOptions, change: Change<R>): EditResult<R> {
  try {
    if (isDeadLink(path)) return failed("is a link to a file that does not exist");
    const real = realFile(path, place.inside);
    if (real === null) return failed("is a link to a file outside the workspace");
    const folder = undoFolder(place.state, real);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const turn = takeFolderLock(folder);
    if (!("number" in turn))
      return failed(`is locked by another edit; if no other edit is running, remove ${turn.inTheWay}`);
    try {
      clearDrafts(real);
      for (let attempt = 0; attempt < retriesMax; attempt++) {
        const done = attemptEdit(real, place.charactersMax, { folder, number: turn.number }, change);
        if (done !== "changed meanwhile") return done;
      }
      return failed("keeps being changed by another program");
    } finally {
      turn.end();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return failed(`cannot be changed (${code})`);
  }
}

/** The folder with the earlier texts of this file. */
export function undoFolder(state: string, real: string): string {
  return join(state, "undo", sha256(real));
}

/**
 * The path with every link followed; null outside the folder. A file that does not exist yet needs an existing folder.
 */
export function realFile(path: string, inside: string): string | null {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  const real = isThere ? realpathSync.native(path) : join(realpathSync.native(dirname(path)), basename(path));
  return real.startsWith(realpathSync.native(inside) + sep) ? real : null;
}

function isDeadLink(path: string): boolean {
  const options = { throwIfNoEntry: false } as const;
  return statSync(path, options) === undefined && lstatSync(path, options) !== undefined;
}

function attemptEdit<R>(
  real: string,
  charactersMax: number,
  { folder, number }: { readonly folder: string; readonly number: number },
  change: Change<R>,
): EditResult<R> | "changed meanwhile" {
  const found = statSync(real, { throwIfNoEntry: false });
  const text = readTextFile(real, charactersMax);
  if (!text.ok && text.code !== "not_found") return failed(text.message);
  const before = text.ok ? text.text : null;
  const changed = change(before, pastOf(folder, before));
  if (changed.kind === "refuse") return { kind: "refused", refusal: changed.refusal };
  if (changed.kind === "gone") return failed("does not exist");
  const after = changed.kind === "write" ? changed.text : changed.kind === "undo" ? changed.past.before : null;
  if (after === before) return { kind: "done", others: 0 };
  if (found !== undefined) accessSync(real, constants.W_OK);
  const draft = after === null ? null : writeDraft(real, after, found);
  try {
    if (changed.kind !== "undo") remember(folder, number, before, after);
    const again = readTextFile(real, charactersMax);
    if ((again.ok ? again.text : null) !== before) return "changed meanwhile";
    if (draft === null) rmSync(real);
    // A file that appeared in the meantime is not overwritten.
    else if (found === undefined) linkSync(draft, real);
    else renameSync(draft, real);
    syncFolder(dirname(real));
    if (changed.kind === "undo") forget(folder, changed.past.number);
  } finally {
    if (draft !== null) rmSync(draft, { force: true });
  }
  return { kind: "done", others: (found?.nlink ?? 1) - 1 };
}

/** With owner and mode of the file it replaces. */
function writeDraft(real: string, text: string, like: Stats | undefined): string {
  const draft = join(dirname(real), `.${basename(real)}.${randomBytes(6).toString("hex")}.${DRAFT}`);
  const file = openSync(draft, "wx", like === undefined ? 0o644 : 0o600);
  try {
    writeFileSync(file, text, "utf8");
    if (like !== undefined) {
      const own = statSync(draft);
      if (own.uid !== like.uid || own.gid !== like.gid) fchownSync(file, like.uid, like.gid);
      fchmodSync(file, like.mode & 0o7777);
    }
    fsyncSync(file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return draft;
}

/** Removes temporary files of killed processes. While we hold the lock, no other process has one for this file. */
function clearDrafts(real: string): void {
  const start = `.${basename(real)}.`;
  for (const name of readdirSync(dirname(real)))
    if (name.startsWith(start) && name.endsWith(`.${DRAFT}`)) rmSync(join(dirname(real), name), { force: true });
}

function failed(message: string): { readonly kind: "failed"; readonly message: string } {
  return { kind: "failed", message };
}
