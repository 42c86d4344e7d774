// The log of a state that nobody serves, for its verifier: read as it lies there, without changing or believing anything.
import { join } from "node:path";
import type { ChainStore } from "../ports/chain-rows.ts";
import type { Digest } from "../ports/digest.ts";
import type { Durable, Kept } from "../ports/durable.ts";
import { headOf } from "./append.ts";
import { chainRowsMax, firstOf, notesFrom, rowsFrom } from "./chain.ts";
import { unkept } from "./commit-loop.ts";
import { Connection } from "./connection.ts";
import { messageOf } from "./failure.ts";
import { machineGround, STATE_FILE } from "./folder.ts";
import { Journal } from "./journal.ts";
import { type Leaf, rowsIn } from "./leaf.ts";
import { loadDriver } from "./sqlite.ts";

export interface StoredChain extends Pick<ChainStore, "rows" | "checkpoints" | "head" | "first"> {
  close(): void;
}

export interface StoredParts {
  readonly digest: Digest;
  /** The folder of our own package, from which the database driver is found. */
  readonly program: string;
}

/** INVARIANT: nobody writes to this state meanwhile; what stands in its journal is read once. */
export function openStoredChain(folder: string, { digest, program }: StoredParts): Kept<StoredChain> {
  const driver = loadDriver(program);
  if (driver === null) return unkept("no SQLite was found: install ambit's packages again");
  let connection: Connection | null = null;
  try {
    connection = new Connection(driver(join(folder, STATE_FILE), true), digest);
    return { ok: true, value: chainOf(connection, journalLeaves(folder, connection, digest)) };
  } catch (error) {
    connection?.close();
    return unkept(`${join(folder, STATE_FILE)} cannot be read: ${messageOf(error)}`);
  }
}

/** What stands in the journal alone, signed or not: that is the verifier's to tell. */
function journalLeaves(folder: string, connection: Connection, digest: Digest): readonly Leaf[] {
  const journal = Journal.open({ folder, platform: machineGround().platform, digest }, false);
  if (journal === null) return [];
  try {
    return journal.leaves(headOf(connection));
  } finally {
    journal.close();
  }
}

function chainOf(connection: Connection, waiting: readonly Leaf[]): StoredChain {
  const rows = waiting.flatMap(rowsIn);
  const notes = waiting.flatMap(({ last, note }) => (note === null ? [] : [{ place: last, text: note }]));
  return {
    rows: (from, count) =>
      reading(() => {
        const stored = rowsFrom(connection, from, count);
        const room = Math.min(count, chainRowsMax) - stored.length;
        return [...stored, ...rows.filter(({ place }) => place >= from).slice(0, Math.max(0, room))];
      }),
    checkpoints: (from) =>
      reading(() => {
        const stored = notesFrom(connection, from);
        // Behind all of those in the database, which come in pages.
        return stored.length > 0 ? stored : notes.filter(({ place }) => place >= from);
      }),
    head: () => reading(() => rows.at(-1) ?? headOf(connection)),
    first: () => reading(() => firstOf(connection)),
    close: () => connection.close(),
  };
}

function reading<T>(read: () => T): Durable<T> {
  try {
    return Promise.resolve({ ok: true, value: read() });
  } catch (error) {
    return Promise.resolve(unkept(messageOf(error)));
  }
}
