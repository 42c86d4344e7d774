// The power of the records tools: the records of a session's workspace on disk, and which versions of them are clean.
import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { createRecord, listRecordsInSteps, RECORDS } from "../../agents/disk/record-files.ts";
import { recordsFolder } from "../../agents/disk/records.ts";
import type { ListedFile } from "../../agents/records/record-collection.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import { judge } from "../../core/authority/judge.ts";
import type { MemoryStore, Namespace } from "../../core/ports/stores/memory-store.ts";
import { sha256 } from "../../platform/digest.ts";
import { editFile } from "../../platform/edit-file.ts";
import { isThere } from "../../platform/path-target.ts";
import { stampOf } from "../../platform/stamp.ts";
import { holdsOf } from "../../runtime/tool/reachable.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import type { RecordAccess } from "../../tools/records/find-record.ts";
import { Library, type LibraryMachine } from "../../tools/records/library.ts";
import type { RecordCallContext, RecordPowers } from "../../tools/records/record-call.ts";
import type { Daemon } from "../daemon.ts";
import type { Records } from "../parts.ts";
import type { Session } from "../session.ts";
import type { PowersOptions } from "../tools/daemon-tool.ts";

export interface RecordPowersOptions {
  /** The user's state folder. */
  readonly state: string | null;
  readonly records: Pick<Records, "workspaceOf">;
  readonly memory: MemoryStore;
  held(session: Session): ReturnType<Daemon["held"]>;
  now(): number;
}

type CurrentHolding = NonNullable<ReturnType<Daemon["held"]>>;

export function recordPowers(asked: RecordPowersOptions): (call: PowersOptions) => RecordPowers {
  const libraries = new WorkspaceLibraries();
  return ({ session, isDecided, taint }) => {
    const { name, cwd } = session.facts;
    const workspace = name.workspace ?? asked.records.workspaceOf(cwd);
    const held = asked.held(session);
    if (workspace === null || held === null) return { records: null };
    const own = workspaceRecords(workspace, asked.state, asked.now(), libraries.of(workspace));
    return {
      records: {
        ...{ ...own, isDecided, taint, digest: sha256, isClean: session.isClean },
        ...access(held),
        ...labels(asked, session, workspace),
      },
    };
  };
}

/** By the session's current holding; one lookup serves a whole list. */
function access({ holding, moment }: CurrentHolding): Pick<RecordCallContext, "reading" | "readsAny" | "mayRead"> {
  const { authority, reading } = holding;
  return {
    reading,
    readsAny: () => holdsOf(authority, moment)(verbEntry("records.read")),
    mayRead: (request) => judge(authority, request, moment).outcome === "allow",
  };
}

/** No third-party tool has a colon in its name, so no other tool can mark records as clean. */
const LABELS = "builtin:records";

/** Which version of a record was written by a session that had read nothing untrusted. Unknown is not clean. */
function labels(
  { memory, now }: RecordPowersOptions,
  session: Session,
  workspace: string,
): Pick<RecordCallContext, "isKnownClean" | "noteClean"> {
  const namespace: Namespace = { kind: "tool", tool: LABELS, workspace };
  return {
    isKnownClean: async (id, version) => {
      const found = await memory.get(namespace, id, now());
      return found.ok && found.value?.isClean === true && found.value.value === version;
    },
    noteClean: async (id, version, isClean) => {
      if (!isClean) return void (await memory.delete(namespace, id, null));
      const writer = session.facts.name;
      await memory.set({
        namespace,
        key: id,
        value: version,
        version: null,
        expires: null,
        isClean,
        writer,
        at: now(),
      });
    },
  };
}

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

/** Ends the event-loop turn. */
export function turn(): Promise<void> {
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
      return made.ok ? made : { ok: false, message: "the record could not be written; it may already exist" };
    },
    change: (path, before, after) => {
      if (state === null) return { ok: false, message: "there is no state folder, so nothing is changed" };
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
    let at = folder;
    for (const part of path.split("/").slice(0, -1)) {
      at = join(at, part);
      if (!lstatSync(at).isDirectory()) return null;
    }
    const stamp = stampOf(join(folder, path));
    return stamp === null ? null : { path, stamp, settled: false };
  } catch {
    return null;
  }
}
