// The records of one workspace, known by what was read of them. Files are looked at for every question; what did not change is not
// read again, and whoever else waits has a turn while much is read.
import { idOfPath, type RecordData } from "../../agents/records/record-data.ts";
import { type ListedFile, type Listing, readOne, type ShelfMachine } from "../../agents/records/shelf.ts";
import { readCache } from "../../agents/records/shelf-cache.ts";

export interface LibraryMachine extends Pick<ShelfMachine, "read" | "frontmatter" | "nameOf" | "loadCache"> {
  /** `pause`: between the steps of a long look. */
  list(pause: () => Promise<void>): Promise<Listing>;
}

export interface Shelved {
  /** Sorted by id; none twice. */
  readonly records: readonly RecordData[];
  /** By path. */
  readonly files: ReadonlyMap<string, ListedFile>;
}

/** So many texts are read before others have a turn. */
const textsPerTurnMax = 16;
/** And so many that did not change. */
const filesPerTurnMax = 2048;

export class Library {
  readonly #pause: () => Promise<void>;
  #known: ReadonlyMap<string, { readonly stamp: string; readonly record: RecordData | null }> | null = null;
  #opening: Promise<Shelved> | null = null;
  #isListed = false;

  constructor(pause: () => Promise<void>) {
    this.#pause = pause;
  }

  /** As the files are now, and never as they were before it was asked: who comes too late for one look waits for the next. */
  open(machine: LibraryMachine): Promise<Shelved> {
    if (this.#opening !== null && this.#isListed) return this.#opening.then(() => this.open(machine));
    this.#opening ??= this.#open(machine).finally(() => {
      this.#opening = null;
      this.#isListed = false;
    });
    return this.#opening;
  }

  async #open(machine: LibraryMachine): Promise<Shelved> {
    // Others may already wait for the same, in this turn.
    await this.#pause();
    this.#isListed = true;
    const { files } = await machine.list(this.#pause);
    const known = this.#known ?? readCache(machine.loadCache());
    const next = new Map<string, { readonly stamp: string; readonly record: RecordData | null }>();
    const records: RecordData[] = [];
    let [read, looked] = [0, 0];
    for (const file of files) {
      const kept = known.get(file.path);
      const record = kept?.stamp === file.stamp ? kept.record : readOne(machine, file).record;
      const isRead = kept?.stamp !== file.stamp;
      if ((isRead && ++read % textsPerTurnMax === 0) || ++looked % filesPerTurnMax === 0) await this.#pause();
      if (record !== null) records.push(record);
      // What was changed just now may be changed again without showing it.
      if (file.settled) next.set(file.path, { stamp: file.stamp, record });
    }
    this.#known = next;
    return { records: distinct(records), files: new Map(files.map((file) => [file.path, file])) };
  }
}

/** An id belongs to the file at its path, else to the first that claims it. */
function distinct(records: readonly RecordData[]): readonly RecordData[] {
  const taken = new Map<string, RecordData>();
  const isOwn = ({ id, path }: RecordData): boolean => idOfPath(path) === id;
  for (const record of [...records.filter(isOwn), ...records.filter((one) => !isOwn(one))])
    if (!taken.has(record.id)) taken.set(record.id, record);
  return [...taken.values()].sort((left, right) => (left.id < right.id ? -1 : left.id > right.id ? 1 : 0));
}
