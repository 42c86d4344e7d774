// The database driver, and the only file that knows which one: Node's built-in module, else the native module of our
// package with the same interface.
import { closeSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

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

export const NO_DRIVER: string = `no SQLite was found for ${process.platform} ${process.arch}: use Node 22.13 or later, which includes it, or reinstall ambit`;

const headerBytes = 4096;

interface DriverStatement extends Statement {
  setReadBigInts(isAll: boolean): void;
}

interface DriverDatabase extends Database {
  prepare(text: string): DriverStatement;
}

type DatabaseClass = new (path: string, settings: { readonly readOnly: boolean }) => DriverDatabase;

/** `program` is the folder of our own package, which has the native modules. Null if none fits. */
export function loadDriver(program: string): Driver | null {
  for (const find of [builtIn, () => shipped(program)]) {
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

/** Only Node 20 needs it. The build copies it from the package of the same version that the lock file names. */
function shipped(program: string): DatabaseClass | null {
  try {
    const name = `${process.platform}-${process.arch}-${cLibrary()}.node`;
    const module: unknown = createRequire(join(program, "package.json"))(join(program, "dist", "sqlite", name));
    return (module as { readonly DatabaseSync: DatabaseClass }).DatabaseSync;
  } catch {
    return null;
  }
}

/** The loader that Node's own program names at its start. */
function cLibrary(): "glibc" | "musl" {
  const header = Buffer.alloc(headerBytes);
  const file = openSync("/proc/self/exe", "r");
  try {
    readSync(file, header, 0, headerBytes, 0);
  } finally {
    closeSync(file);
  }
  return header.includes("/ld-musl-") ? "musl" : "glibc";
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
