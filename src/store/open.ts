// Opens the state file durably: every setting is made and read back, or the file is not opened.
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Digest } from "../core/ports/digest.ts";
import type { DurableResult } from "../core/ports/stores/durable.ts";
import type { Notary } from "../core/ports/stores/notary.ts";
import { unkept } from "./commit-loop.ts";
import { Connection } from "./connection.ts";
import { prepareFolder, STATE_FILE, type StateEnvironment } from "./folder.ts";
import { tailProblem } from "./log/tail.ts";
import { importOldJournal } from "./old-journal.ts";
import { migrate } from "./schema.ts";
import type { Driver } from "./sqlite.ts";

export interface OpenParts {
  readonly folder: string;
  readonly driver: Driver;
  readonly digest: Digest;
  readonly ground: StateEnvironment;
  /** Null: commits are not signed, and existing ones need no signature. */
  readonly notary: Notary | null;
}

/** Name, value, and how it reads back. Drivers have weaker defaults, and some reset them when a file is opened again. */
const SETTINGS: readonly (readonly [name: string, value: string, read: number | string])[] = [
  ["busy_timeout", "5000", 5000],
  ["journal_mode", "wal", "wal"],
  ["synchronous", "full", 2],
  ["foreign_keys", "on", 1],
  ["trusted_schema", "off", 0],
  ["cell_size_check", "on", 1],
  ["cache_size", "-16384", -16_384],
  ["journal_size_limit", "67108864", 67_108_864],
];

/** On macOS a plain flush only reaches the disk's cache. */
const APPLE_SETTINGS: typeof SETTINGS = [
  ["fullfsync", "on", 1],
  ["checkpoint_fullfsync", "on", 1],
];

export function openConnection(parts: OpenParts): DurableResult<Connection> {
  const { folder, driver, digest, ground, notary } = parts;
  let connection: Connection | null = null;
  try {
    const wrong = prepareFolder(folder, ground);
    if (wrong !== null) return unkept(wrong);
    const path = join(folder, STATE_FILE);
    const database = driver(path, false);
    const opened = identityOf(path);
    connection = new Connection(database, digest, notary, () => opened !== null && identityOf(path) === opened);
    const problem =
      makeSettings(connection, ground) ??
      importOldJournal(connection, folder) ??
      migrate(connection) ??
      tailProblem(connection);
    if (problem === null) return { ok: true, value: connection };
    connection.close();
    return unkept(problem);
  } catch (error) {
    connection?.close();
    return unkept(`${join(folder, STATE_FILE)} cannot be opened: ${error instanceof Error ? error.message : error}`);
  }
}

/** Null where the path leads to no file. */
function identityOf(path: string): string | null {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? null : `${facts.dev} ${facts.ino}`;
}

function makeSettings(connection: Connection, { platform }: StateEnvironment): string | null {
  for (const [name, value, read] of platform === "darwin" ? [...SETTINGS, ...APPLE_SETTINGS] : SETTINGS) {
    connection.exec(`PRAGMA ${name} = ${value}`);
    // The column name sometimes differs from the setting's name.
    const found = Object.values(connection.get(`PRAGMA ${name}`) ?? {})[0];
    if (found !== read)
      return `the database does not take ${name} = ${value} (it says ${found}), and without it entries could be lost`;
  }
  return null;
}
