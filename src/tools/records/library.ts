// The records of one workspace with a cache. Files are listed for every query; unchanged ones are not read again, and
// long reads pause for other requests.

import { readCache } from "../../agents/records/collection-cache.ts";
import {
  type CollectionMachine,
  type ListedFile,
  type Listing,
  readOne,
} from "../../agents/records/record-collection.ts";
import { idOfPath, type RecordData } from "../../agents/records/record-data.ts";

export interface LibraryMachine extends Pick<CollectionMachine, "read" | "frontmatter" | "nameOf" | "loadCache"> {
  /** `pause`: called between the steps of a long listing. */
  list(pause: () => Promise<void>): Promise<Listing>;
}

export interface LibraryListing {
  /** Sorted by id; none twice. */
  readonly records: readonly RecordData[];
  /** By path. */
  readonly files: ReadonlyMap<string, ListedFile>;
}

/** Texts read in one turn. */
const textsPerTurnMax = 16;
/** Unchanged files processed in one turn. */
const filesPerTurnMax = 2048;

export class Library {
  /** Lets other requests run. */
  readonly pause: () => Promise<void>;
  #known: ReadonlyMap<string, { readonly stamp: string; readonly record: RecordData | null }> | null = null;
  #opening: Promise<LibraryListing> | null = null;
  #isListed = false;

  constructor(pause: () => Promise<void>) {
    this.pause = pause;
  }

  /** The files as they are now, never as before the call: a caller that is too late for one scan waits for the next. */
  open(machine: LibraryMachine): Promise<LibraryListing> {
    if (this.#opening !== null && this.#isListed) return this.#opening.then(() => this.open(machine));
    this.#opening ??= this.#open(machine).finally(() => {
      this.#opening = null;
      this.#isListed = false;
    });
    return this.#opening;
  }

  async #open(machine: LibraryMachine): Promise<LibraryListing> {
    // Other callers of this turn may join the same scan.
    await this.pause();
    this.#isListed = true;
    const { files } = await machine.list(this.pause);
    const known = this.#known ?? readCache(machine.loadCache());
    const next = new Map<string, { readonly stamp: string; readonly record: RecordData | null }>();
    const records: RecordData[] = [];
    let [read, looked] = [0, 0];
    for (const file of files) {
      const kept = known.get(file.path);
      const record = kept?.stamp === file.stamp ? kept.record : readOne(machine, file).record;
      const isRead = kept?.stamp !== file.stamp;
      if ((isRead && ++read % textsPerTurnMax === 0) || ++looked % filesPerTurnMax === 0) await this.pause();
      if (record !== null) records.push(record);
      // A file that was changed just now may change again with the same stamp.
      if (file.settled) next.set(file.path, { stamp: file.stamp, record });
    }
    this.#known = next;
    return { records: distinct(records), files: new Map(files.map((file) => [file.path, file])) };
  }
}

/** An id belongs to the file at its path, else to the first file that claims it. */
function distinct(records: readonly RecordData[]): readonly RecordData[] {
  const taken = new Map<string, RecordData>();
  const isOwn = ({ id, path }: RecordData): boolean => idOfPath(path) === id;
  for (const record of [...records.filter(isOwn), ...records.filter((one) => !isOwn(one))])
    if (!taken.has(record.id)) taken.set(record.id, record);
  return [...taken.values()].sort((left, right) => (left.id < right.id ? -1 : left.id > right.id ? 1 : 0));
}
