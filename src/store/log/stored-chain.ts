// The log of a state without a running daemon, for its verifier: read as stored, without changing or trusting anything.

import { join } from "node:path";
import { errorMessage } from "../../core/base/error-message.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { ChainStore } from "../../core/ports/stores/chain-rows.ts";
import type { Durable, DurableResult } from "../../core/ports/stores/durable.ts";
import { writeFailure } from "../commit-loop.ts";
import { Connection } from "../connection.ts";
import { OLD_JOURNAL_FILE, STATE_FILE } from "../folder.ts";
import { hasOldJournal } from "../old-journal.ts";
import { loadDriver, NO_DRIVER } from "../sqlite.ts";
import { headOf } from "./append.ts";
import { firstOf, notesFrom, rowsFrom } from "./chain.ts";
import { firstUnindexed } from "./index-check.ts";

export interface StoredChain extends Pick<ChainStore, "rows" | "checkpoints" | "head" | "first" | "unindexed"> {
  close(): void;
}

export interface StoredParts {
  readonly digest: Digest;
  /** The folder of our own package, from which the database driver is found. */
  readonly program: string;
}

export function openStoredChain(folder: string, { digest, program }: StoredParts): DurableResult<StoredChain> {
  const driver = loadDriver(program);
  if (driver === null) return writeFailure(NO_DRIVER);
  let connection: Connection | null = null;
  try {
    connection = new Connection(driver(join(folder, STATE_FILE), true), digest);
    if (!hasOldJournal(connection, folder)) return { ok: true, value: chainOf(connection) };
    connection.close();
    return writeFailure(
      `${join(folder, STATE_FILE)} has an earlier format, and its newest entries may be in ${OLD_JOURNAL_FILE}: run "ambit daemon start" once, which imports them or reports the damage`,
    );
  } catch (error) {
    connection?.close();
    return writeFailure(`${join(folder, STATE_FILE)} cannot be read: ${errorMessage(error)}`);
  }
}

function chainOf(connection: Connection): StoredChain {
  return {
    rows: (from, count) => reading(() => rowsFrom(connection, from, count)),
    checkpoints: (from) => reading(() => notesFrom(connection, from)),
    head: () => reading(() => headOf(connection)),
    unindexed: (from, to) => reading(() => firstUnindexed(connection, from, to)),
    first: () => reading(() => firstOf(connection)),
    close: () => connection.close(),
  };
}

function reading<T>(read: () => T): Durable<T> {
  try {
    return Promise.resolve({ ok: true, value: read() });
  } catch (error) {
    return Promise.resolve(writeFailure(errorMessage(error)));
  }
}
