// The records folder on disk: its listing, the text of one file, new files, and the cache.

import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { errorCode } from "../../core/base/error-code.ts";
import type { CodedFailure, Failure } from "../../core/base/result.ts";
import type { DiagnosticCode } from "../../core/notation/diagnostic.ts";
import { sha256 } from "../../platform/digest.ts";
import { readTextFile } from "../../platform/files.ts";
import {
  type FolderListing,
  type ListedFile,
  type ListingLimits,
  type ListingOptions,
  listFolder,
  listFolderInSteps,
} from "../../platform/listing.ts";
import { liesInside } from "../../platform/path-target.ts";
import { stampOf } from "../../platform/stamp.ts";
import { writeWhole } from "../../platform/write-whole.ts";

/** Relative to the workspace. */
export const RECORDS = ".ambit/records";

const LIMITS: ListingLimits = {
  filesMax: 100_000,
  depthMax: 32,
  entriesMax: 400_000,
  fileBytesMax: 4 * 1024 * 1024,
  bytesMax: 256 * 1024 * 1024,
};

export function listRecords(workspace: string, now: number): FolderListing {
  return listFolder(askedOf(workspace, now));
}

/** Pauses between steps, for a process that serves other requests meanwhile. */
export function listRecordsInSteps(workspace: string, now: number, pause: () => Promise<void>): Promise<FolderListing> {
  return listFolderInSteps(askedOf(workspace, now), pause);
}

function askedOf(workspace: string, now: number): ListingOptions {
  return {
    folder: join(workspace, RECORDS),
    inside: workspace,
    now,
    limits: LIMITS,
    isWanted: (path) => path.endsWith(".md"),
    isEntered: () => true,
  };
}

export type FileText = { readonly ok: true; readonly text: string } | CodedFailure<DiagnosticCode>;

const attemptsMax = 3;

/** The text that matches the stamp: a file that changes while it is read is read again. */
export function readListed(folder: string, { path, stamp }: ListedFile, charactersMax: number): FileText {
  const full = join(folder, path);
  let expected: string | null = stamp;
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const content = fileText(full, charactersMax);
    const after = stampOf(full);
    if (after !== null && after === expected) return content;
    // A parent folder may have been replaced by a link meanwhile.
    expected = liesInside(full, folder) ? after : null;
  }
  return { ok: false, code: "not_understood", message: "this file was removed, or changed while it was read" };
}

/** A whole file, with its problem as a diagnostic. */
export function fileText(path: string, charactersMax: number): FileText {
  const content = readTextFile(path, charactersMax);
  if (content.ok) return content;
  return { ok: false, code: CODES[content.code] ?? "not_understood", message: `this file ${content.message}` };
}

const CODES: Readonly<Record<string, DiagnosticCode>> = { too_large: "too_large", not_utf8: "syntax" };

export type CreateResult = { readonly ok: true; readonly path: string } | Failure;

/** Creates a file under a name that was checked before. INVARIANT: an existing file is never overwritten. */
export function createRecord(workspace: string, segments: readonly string[], text: string): CreateResult {
  const names = [...RECORDS.split("/"), ...segments.slice(0, -1)];
  let folder = workspace;
  for (const name of names) {
    folder = join(folder, name);
    const made = ownFolder(folder);
    if (made !== null) return { ok: false, message: made };
  }
  const path = join(folder, `${segments.at(-1) ?? ""}.md`);
  const draft = join(folder, `.${randomBytes(8).toString("hex")}.draft`);
  try {
    const file = openSync(
      draft,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o644,
    );
    try {
      writeFileSync(file, text, "utf8");
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    // Atomic, and only if the name is free: `link` fails where `rename` would replace.
    linkSync(draft, path);
    return { ok: true, path };
  } catch (error) {
    return {
      ok: false,
      message: errorCode(error) === "EEXIST" ? `${path} already exists` : `${path}: ${errorCode(error)}`,
    };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Null unless it is a folder now. A link is refused: it could lead out of the workspace. */
function ownFolder(path: string): string | null {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) mkdirSync(path);
    else if (!found.isDirectory()) return `${path} is not a folder`;
    return null;
  } catch (error) {
    return errorCode(error) === "EEXIST" ? null : `${path}: ${errorCode(error)}`;
  }
}

export interface RecordCache {
  load(): string | null;
  /** If the cache cannot be written it is missing at the next run, which is harmless. */
  save(text: string): void;
}

const cacheCharactersMax = 72 * 1024 * 1024;

/** In the user's state, one file for each workspace. */
export function recordCache(state: string | null, workspace: string): RecordCache {
  if (state === null) return { load: () => null, save: () => undefined };
  const path = join(state, "records", `${sha256(workspace)}.index`);
  return {
    load: () => {
      const content = readTextFile(path, cacheCharactersMax);
      return content.ok ? content.text : null;
    },
    save: (text) => {
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        writeWhole(path, text);
      } catch {
        // The next run reads the files again.
      }
    },
  };
}
