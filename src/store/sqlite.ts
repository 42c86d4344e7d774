// The database driver, and the only file that knows which one: Node's built-in module, else a package with the same
// interface.
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Package from "@photostructure/sqlite";

export type SqlValue = null | number | string | Uint8Array;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Statement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
  get(...values: readonly SqlValue[]): Row | undefined;
  all(...values: readonly SqlValue[]): readonly Row[];
  iterate(...values: readonly SqlValue[]): Iterable<Row>;
}

export interface Database {
  exec(text: string): void;
  prepare(text: string): Statement;
  close(): void;
}

export type Driver = (path: string, isReader: boolean) => Database;

interface DriverStatement extends Statement {
  setReadBigInts(isAll: boolean): void;
}

interface DriverDatabase extends Database {
  prepare(text: string): DriverStatement;
}

type DatabaseClass = new (path: string, settings: { readonly readOnly: boolean }) => DriverDatabase;

/**
 * `program` is the folder of our own package: the driver is resolved from there at run time, because its native code is
 * inside its own package and cannot be bundled. Null if there is none.
 */
export function loadDriver(program: string): Driver | null {
  for (const find of [builtIn, () => installed(program)]) {
    const found = find();
    if (found !== null && isEnough(found)) return (path, isReader) => opened(new found(path, { readOnly: isReader }));
  }
  return null;
}

/**
 * After each statement the driver also returns the id of the last row, which the word index makes larger than a double
 * can hold; from Node 26 on that throws, after the commit was made. Big integers avoid that.
 */
function opened(database: DriverDatabase): Database {
  return {
    exec: (text) => database.exec(text),
    prepare: (text) => {
      const statement = database.prepare(text);
      if (!HAS_ROWS.test(text)) statement.setReadBigInts(true);
      return statement;
    },
    close: () => database.close(),
  };
}

const HAS_ROWS = /^\s*(?:SELECT|PRAGMA|WITH|EXPLAIN)\b|\bRETURNING\b/i;

function builtIn(): DatabaseClass | null {
  const module = process.getBuiltinModule?.("node:sqlite") as { readonly DatabaseSync?: DatabaseClass } | undefined;
  return module?.DatabaseSync ?? null;
}

function installed(program: string): DatabaseClass | null {
  try {
    const module = createRequire(join(program, "package.json"))("@photostructure/sqlite") as typeof Package;
    return module.DatabaseSync as unknown as DatabaseClass;
  } catch {
    return null;
  }
}

/** Node's first built-in versions lack the word index, and the next ones cannot bind numbered values. */
function isEnough(found: DatabaseClass): boolean {
  try {
    const database = new found(":memory:", { readOnly: false });
    const row = database.prepare("SELECT sqlite_compileoption_used(?1) AS used, ?1 AS name").get("ENABLE_FTS5");
    database.close();
    return row?.["used"] === 1;
  } catch {
    return false;
  }
}

/** SQLite's primary result code; null for an error that did not come from SQLite. */
export function failureCode(error: unknown): number | null {
  const code = (error as { readonly errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & 0xff : null;
}
