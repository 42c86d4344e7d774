// The record of each draft, stored beside it in the state folder: its owner, what landed, what waits.
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../../core/base/json.ts";
import { DRAFT_STATES, type DraftSummary, type UnlandedChange } from "../../core/ports/drafts.ts";
import { writeWhole } from "../../platform/write-whole.ts";
import type { FileKind } from "../plan/drafts/change.ts";

export interface DraftRecord extends DraftSummary {
  /** The owner whose sandboxes made it: limits are counted by this. */
  readonly owner: string;
  /** Identity of its root folder: another folder may have the same name later. */
  readonly rootDevice: string;
  readonly rootInode: string;
  /** Nanoseconds; later changes of the root were made by others. */
  readonly start: string;
  readonly inodes: number;
  /** Numbers of its landings that are not undone, oldest first. */
  readonly landings: readonly number[];
  /** Names below the root that the command did not see: nothing at, below or above them changes. */
  readonly masked: readonly (readonly string[])[];
  /** Every change needs an approval. */
  readonly needsReview: boolean;
  /** False: it is not certain that its sandbox has ended. INVARIANT: then it never lands. */
  readonly isSealed: boolean;
  /** Git folders below the root into which commits, refs or index entries landed. */
  readonly repositories: readonly string[];
}

/** Kind and path of a waiting change, and its code. */
export type UnlandedPaths = readonly (readonly [key: string, code: string])[];

/** One name of a landing: the project's previous state, which an undo restores. */
export interface LandedStep {
  readonly path: readonly string[];
  readonly base: FileKind | null;
}

export const RECORD_FILE = "record.json";
const KEPT_FILE = "kept.json";
const STEPS_FILE = "steps.json";
/** How many waiting changes the record lists with their reason. */
export const keptShownMax = 100;
const recordBytesMax = 4_194_304;
const draftsMax = 10_000;
const ID = /^d-[0-9a-z]{1,16}-[0-9a-f]{16}$/;

export function isDraftId(id: string): boolean {
  return ID.test(id);
}

/** Cached: one process owns the state folder, and every command reads them. */
export class DraftRecords {
  readonly #folder: string;
  #records: Map<string, DraftRecord> | null = null;

  /** `folder`: the folder of all drafts, each in a folder of its own. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  folderOf(id: string): string {
    if (!isDraftId(id)) throw new RangeError("not an id of a draft");
    return join(this.#folder, id);
  }

  /**
   * Durable once this returns; throws as the file system does. `keptPaths`: kind and path of every waiting change,
   * where that is not the whole draft.
   */
  write(record: DraftRecord, keptPaths: UnlandedPaths | null = null): void {
    const folder = this.folderOf(record.draft);
    // A draft without waiting changes needs no list; an older list must not remain.
    const isListed = keptPaths !== null && (keptPaths.length > 0 || existsSync(join(folder, KEPT_FILE)));
    if (isListed) writeWhole(join(folder, KEPT_FILE), JSON.stringify(keptPaths));
    writeWhole(join(folder, RECORD_FILE), JSON.stringify(record));
    this.#all().set(record.draft, record);
  }

  /** For a command that begins: not flushed, because a power failure now loses nothing. */
  begin(record: DraftRecord): void {
    writeFileSync(join(this.folderOf(record.draft), RECORD_FILE), JSON.stringify(record), { mode: 0o600 });
    this.#all().set(record.draft, record);
  }

  /** Before a landing begins: the record and the planned changes, durable together with the lander's own journal. */
  beginLanding(record: DraftRecord, steps: readonly LandedStep[]): void {
    const known = this.steps(record.draft) ?? [];
    const all = [...known, ...steps].map(({ path, base }) => [base ?? "", ...path]);
    writeWhole(join(this.folderOf(record.draft), STEPS_FILE), JSON.stringify(all));
    // Until its end is recorded, a landing counts as interrupted, also that of a kept draft.
    this.write({
      ...record,
      needsReview: this.read(record.draft)?.needsReview ?? record.needsReview,
      state: "running",
    });
  }

  /**
   * Every name that a landing of this draft changed or was about to change; null where none began. Throws for a damaged
   * list.
   */
  steps(id: string): readonly LandedStep[] | null {
    const path = join(this.folderOf(id), STEPS_FILE);
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
    const list: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!Array.isArray(list) || !list.every(isTexts)) throw new TypeError(`${STEPS_FILE} is not a list of steps`);
    return list.map(([base = "", ...names]) => ({ path: names, base: base === "" ? null : (base as FileKind) }));
  }

  /** Whether no command ever began in this folder: there is not even a damaged record. */
  isUnused(id: string): boolean {
    return lstatSync(join(this.folderOf(id), RECORD_FILE), { throwIfNoEntry: false }) === undefined;
  }

  /**
   * The waiting changes by kind and path, with their code; null where the whole draft waits. Throws where the list is
   * unreadable.
   */
  keptPaths(id: string): ReadonlyMap<string, string> | null {
    const path = join(this.folderOf(id), KEPT_FILE);
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
    const list: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!Array.isArray(list) || !list.every(isTexts)) throw new TypeError(`${KEPT_FILE} is not a list of pairs`);
    return new Map(list.map(([key = "", code = ""]) => [key, code]));
  }

  read(id: string): DraftRecord | null {
    return this.#all().get(id) ?? null;
  }

  /** Newest first. */
  list(): readonly DraftRecord[] {
    return [...this.#all().values()].sort((left, right) => right.at - left.at);
  }

  /** By its own id or by that of the call that made it; of several, one that waits, else the newest. */
  find(id: string): DraftRecord | null {
    const own = this.read(id);
    if (own !== null) return own;
    const made = this.list().filter(({ call }) => call === id);
    return made.find(({ state }) => state === "kept") ?? made[0] ?? null;
  }

  forget(id: string): void {
    this.#all().delete(id);
  }

  /** Every draft with a folder, with or without a record. */
  ids(): readonly string[] {
    try {
      return readdirSync(this.#folder).filter(isDraftId).slice(0, draftsMax);
    } catch {
      return [];
    }
  }

  #all(): Map<string, DraftRecord> {
    if (this.#records === null) {
      this.#records = new Map();
      for (const id of this.ids()) {
        const record = this.#readFile(id);
        if (record !== null) this.#records.set(id, record);
      }
    }
    return this.#records;
  }

  #readFile(id: string): DraftRecord | null {
    try {
      const path = join(this.#folder, id, RECORD_FILE);
      const found = lstatSync(path);
      if (!found.isFile() || found.size > recordBytesMax) return null;
      return recordIn(JSON.parse(readFileSync(path, "utf8")), id);
    } catch {
      return null;
    }
  }
}

const TEXTS = ["agent", "root", "call", "owner", "rootDevice", "rootInode", "start"] as const;
const NUMBERS = ["at", "bytes", "landed", "keptMore", "inodes"] as const;

/** Written by us only; a record that does not parse exactly is none. */
function recordIn(value: unknown, id: string): DraftRecord | null {
  if (!isJsonObject(value as never)) return null;
  const record = value as Readonly<Record<string, unknown>>;
  const isFine =
    record["draft"] === id &&
    DRAFT_STATES.includes(record["state"] as never) &&
    TEXTS.every((key) => typeof record[key] === "string") &&
    NUMBERS.every((key) => Number.isSafeInteger(record[key])) &&
    (record["workspace"] === null || typeof record["workspace"] === "string") &&
    typeof record["needsReview"] === "boolean" &&
    typeof record["isSealed"] === "boolean" &&
    isTexts(record["command"]) &&
    isTexts(record["repositories"]) &&
    Array.isArray(record["landings"]) &&
    record["landings"].every((one) => Number.isSafeInteger(one)) &&
    Array.isArray(record["masked"]) &&
    record["masked"].every(isTexts) &&
    Array.isArray(record["kept"]) &&
    record["kept"].every(isKept);
  return isFine ? (record as unknown as DraftRecord) : null;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isKept(value: unknown): value is UnlandedChange {
  const { path, kind, code, reason } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return [path, kind, code, reason].every((one) => typeof one === "string");
}
