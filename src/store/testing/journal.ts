// A state that keeps a journal, and what is left of it when its process falls, for tests.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, vi } from "vitest";
import type { ChainRow } from "../../ports/chain-rows.ts";
import type { AccountCharge } from "../../ports/ledger.ts";
import { JOURNAL_FILE } from "../folder.ts";
import { Journal } from "../journal.ts";
import { type Driver, loadDriver } from "../sqlite.ts";
import type { State } from "../state.ts";
import { readLog } from "./leaf.ts";
import { chargeOf, digest, entryOf, program, type TemporaryState, temporaryState, value, writeOf } from "./state.ts";

export const driver: Driver = loadDriver(program) as Driver;
export const budget: AccountCharge = chargeOf("a", { calls: 6 });

export class SoleState {
  readonly place: TemporaryState = temporaryState();
  readonly journal: string = join(this.place.folder, JOURNAL_FILE);
  readonly #copies: TemporaryState[] = [];
  #elapsed = 0;
  state: State = this.#opened();

  /** With one entry in the database, and all that comes next for the journal. */
  static async begun(): Promise<SoleState> {
    const sole = new SoleState();
    const first = writeOf({ entry: entryOf({ id: "first" }), charges: [budget] });
    value(await sole.state.ledger.decide(first));
    return sole;
  }

  #opened(): State {
    // Where it is to be opened again, it is time for it.
    return this.place.opened({ isSole: true, elapsed: () => ++this.#elapsed * 1_000 });
  }

  reopen(): void {
    this.state = this.#opened();
  }

  async append(id: string, text = "", to: State = this.state): Promise<number> {
    return value(await to.ledger.append([entryOf({ id, more: { text } })])).place;
  }

  /** Each is a commit of its own. */
  async appended(...ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.append(id);
  }

  async rows(of: State = this.state): Promise<readonly ChainRow[]> {
    return value(await of.chain.rows(1, 9_999));
  }

  async ids(of: State = this.state): Promise<string> {
    return (await this.rows(of)).map(({ body }) => (JSON.parse(body) as { id: string }).id).join(" ");
  }

  /** As many entries as somebody sees who knows nothing of the journal. */
  inFile(): number {
    const database = driver(join(this.place.folder, "state.db"), true);
    const { length } = readLog(database);
    database.close();
    return length;
  }

  /** The files as they are now, which is all that is left of a process that was killed. */
  fallen(change: (bytes: Buffer) => Uint8Array = (bytes) => bytes): TemporaryState {
    const copy = this.another();
    mkdirSync(copy.folder, { mode: 0o700 });
    for (const name of ["state.db", "state.db-wal", JOURNAL_FILE]) {
      const bytes = readFileSync(join(this.place.folder, name));
      writeFileSync(join(copy.folder, name), name === JOURNAL_FILE ? change(bytes) : bytes, { mode: 0o600 });
    }
    return copy;
  }

  another(): TemporaryState {
    const place = temporaryState();
    this.#copies.push(place);
    return place;
  }

  /** The places that a journal of these bytes has behind an end of the chain. */
  found(bytes: Uint8Array, end: ChainRow): string {
    const folder = join(this.place.folder, "..");
    writeFileSync(join(folder, JOURNAL_FILE), bytes);
    const journal = Journal.open({ folder, platform: process.platform, digest }, false);
    const leaves = journal?.leaves(end) ?? [];
    journal?.close();
    return leaves.map(({ last }) => last).join(" ");
  }

  /** What stands in the journal behind the first entry, and where each of its records ends. */
  async written(...texts: readonly string[]): Promise<{ bytes: Buffer; ends: number[]; first: ChainRow }> {
    const [first] = (await this.rows()) as [ChainRow];
    const ends = [0];
    for (const [at, text] of texts.entries()) {
      await this.append(`${at}`, text);
      ends.push(readFileSync(this.journal).findLastIndex((byte) => byte !== 0) + 1);
    }
    return { bytes: readFileSync(this.journal).subarray(0, ends.at(-1)), ends, first };
  }

  remove(): void {
    for (const place of [...this.#copies, this.place]) place.remove();
  }
}

/** One for each test, and its end. */
export function eachWith(give: (sole: SoleState) => void): void {
  let sole: SoleState;
  beforeEach(async () => {
    // Nothing is put into the database only because time went by.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    sole = await SoleState.begun();
    give(sole);
  });
  afterEach(() => {
    vi.useRealTimers();
    sole.remove();
  });
}
