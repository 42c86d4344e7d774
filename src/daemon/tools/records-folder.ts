// The records of a workspace on disk, as the daemon's tools read and change them.
import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { createRecord, listRecordsInSteps, RECORDS } from "../../agents/disk/record-files.ts";
import { recordsFolder } from "../../agents/disk/records.ts";
import type { ListedFile } from "../../agents/records/shelf.ts";
import { editFile } from "../../platform/edit-file.ts";
import { isThere } from "../../platform/path-target.ts";
import { stampOf } from "../../platform/stamp.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import type { RecordAccess } from "../../tools/records/find-record.ts";
import { Library, type LibraryMachine } from "../../tools/records/library.ts";
import type { RecordCallContext } from "../../tools/records/record-call.ts";

export interface WorkspaceRecords {
  readonly place: RecordAccess;
  readonly create: RecordCallContext["create"];
  readonly change: RecordCallContext["change"];
}

const librariesMax = 32;

/** One index per workspace, for the most recently used ones only. */
export class WorkspaceLibraries {
  readonly #libraries = new Map<string, Library>();

  of(workspace: string): Library {
    const known = this.#libraries.get(workspace) ?? new Library(turn);
    this.#libraries.delete(workspace);
    this.#libraries.set(workspace, known);
    for (const oldest of this.#libraries.keys()) {
      if (this.#libraries.size <= librariesMax) break;
      this.#libraries.delete(oldest);
    }
    return known;
  }
}

function turn(): Promise<void> {
  return new Promise((next) => setImmediate(next));
}

export function workspaceRecords(
  workspace: string,
  state: string | null,
  now: number,
  library: Library,
): WorkspaceRecords {
  const folder = join(workspace, RECORDS);
  const { machine: found } = recordsFolder(workspace, state, now, (path) => path);
  // INVARIANT: a symlink in place of the folder contains no records, wherever it leads: not even to agents of the same workspace.
  const isOwn = isOwnFolder(workspace, folder);
  const machine: LibraryMachine = {
    ...found,
    list: async (pause) => (isOwn ? listRecordsInSteps(workspace, now, pause) : { files: [], problems: [] }),
  };
  const file = (path: string): ListedFile | null => (isOwn ? plainFile(folder, path) : null);
  return {
    place: { machine, library, file },
    // Creates each parent folder itself, and follows no symlink.
    create: (segments, text) => {
      const made = createRecord(workspace, segments, text);
      return made.ok ? made : { ok: false, message: "the record could not be written; there may be one already" };
    },
    change: (path, before, after) => {
      if (state === null) return { ok: false, message: "there is no folder for state, so nothing is changed" };
      // INVARIANT: only a plain file below the records folder, reached through plain folders.
      if (file(path) === null) return "changed";
      const place = { state, inside: folder, charactersMax: sourceCharactersMax };
      const edited = editFile<"changed">(join(folder, path), place, (text) => {
        if (text !== before) return { kind: "refuse", refusal: "changed" };
        return after === null ? { kind: "remove" } : { kind: "write", text: after };
      });
      if (edited.kind === "refused") return edited.refusal;
      return edited.kind === "done" ? { ok: true } : { ok: false, message: `the record ${edited.message}` };
    },
  };
}

/** Even if it does not exist yet. */
function isOwnFolder(workspace: string, folder: string): boolean {
  try {
    return !isThere(folder) || realpathSync.native(folder) === join(realpathSync.native(workspace), RECORDS);
  } catch {
    return false;
  }
}

function plainFile(folder: string, path: string): ListedFile | null {
  try {
    let way = folder;
    for (const part of path.split("/").slice(0, -1)) {
      way = join(way, part);
      if (!lstatSync(way).isDirectory()) return null;
    }
    const stamp = stampOf(join(folder, path));
    return stamp === null ? null : { path, stamp, settled: false };
  } catch {
    return null;
  }
}
