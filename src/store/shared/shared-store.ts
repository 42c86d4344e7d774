// Shared stores in the database. INVARIANT: an item and the entry about its change are in one commit.
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Durable } from "../../core/ports/stores/durable.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type {
  SharedStores,
  StoreContent,
  StoreDefinition,
  StoreItem,
  StoreKey,
  StoreRefusal,
  StoreWrite,
  StoreWriteResult,
} from "../../core/ports/stores/shared-store.ts";
import type { CommitLoop } from "../commit-loop.ts";
import { type Connection, numberOf, textOf } from "../connection.ts";
import { appendEntry } from "../log/append.ts";
import { bytesOf, jsonOf } from "../memory/memory-text.ts";
import type { Row } from "../sqlite.ts";

/** `shared_store.revision`: of the last write; it outlives the items, so a key that is made anew has a new revision. */
export const sharedStoreTables: string = `
CREATE TABLE shared_store (
  workspace TEXT NOT NULL,
  store TEXT NOT NULL,
  revision INTEGER NOT NULL CHECK (revision >= 0),
  schema TEXT,
  defined INTEGER,
  PRIMARY KEY (workspace, store)
) STRICT, WITHOUT ROWID;
CREATE TABLE shared_item (
  workspace TEXT NOT NULL,
  store TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  revision INTEGER NOT NULL,
  at INTEGER NOT NULL,
  writer TEXT NOT NULL,
  is_clean INTEGER NOT NULL CHECK (is_clean IN (0, 1)),
  bytes INTEGER NOT NULL,
  PRIMARY KEY (workspace, store, key)
) STRICT, WITHOUT ROWID;
`;

/** Of one store. Keys count towards the bytes too. */
export const storeItemsMax = 5_000;
export const storeBytesMax: number = 4 * 1024 * 1024;
export const storeValueBytesMax: number = 64 * 1024;
const storesMax = 256;

export class SqliteSharedStores implements SharedStores {
  readonly #loop: CommitLoop;

  constructor(loop: CommitLoop) {
    this.#loop = loop;
  }

  definitions(workspace: string): Durable<readonly StoreDefinition[]> {
    return this.#loop.read((connection) =>
      connection
        .all(
          "SELECT store, schema, defined FROM shared_store WHERE workspace = ? AND schema IS NOT NULL ORDER BY store",
          jsonOf(workspace),
        )
        .map((row) => ({
          workspace,
          store: textIn(row, "store"),
          schema: JSON.parse(textOf(row, "schema")) as JsonObject,
          at: numberOf(row, "defined"),
        })),
    );
  }

  define(
    { workspace, store, schema, at }: StoreDefinition,
    check: (item: StoreItem) => string | null,
    entry: LogEntry,
  ): Durable<{ readonly ok: true } | StoreRefusal> {
    const place = { workspace, store };
    return this.#loop.write((connection) => {
      if (isFull(connection, place)) return refused("quota", `a workspace has at most ${storesMax} stores`);
      for (const item of itemsIn(connection, place)) {
        const why = check(item);
        if (why !== null) return refused("invalid_input", `the item ${item.key} does not fit the schema: ${why}`);
      }
      appendEntry(connection, entry);
      connection.run(
        `INSERT INTO shared_store (workspace, store, revision, schema, defined) VALUES (?, ?, 0, ?, ?)
           ON CONFLICT (workspace, store) DO UPDATE SET schema = excluded.schema, defined = excluded.defined`,
        ...[jsonOf(workspace), jsonOf(store), JSON.stringify(schema), at],
      );
      return { ok: true };
    });
  }

  inUse(workspace: string): Durable<readonly string[]> {
    return this.#loop.read((connection) =>
      connection
        .all("SELECT store FROM shared_store WHERE workspace = ? ORDER BY store", jsonOf(workspace))
        .map((row) => textIn(row, "store")),
    );
  }

  content(place: StoreKey): Durable<StoreContent> {
    return this.#loop.read((connection) => ({
      revision: revisionOf(connection, place),
      items: itemsIn(connection, place),
    }));
  }

  write(write: StoreWrite, entry: (revision: number) => LogEntry): Durable<StoreWriteResult> {
    const { workspace, store, key, value } = write;
    const text = value === undefined ? null : JSON.stringify(value);
    const bytes = text === null ? 0 : bytesOf(text) + bytesOf(key);
    return this.#loop.write((connection) => {
      const fault = writeFault(connection, write, bytes);
      if (fault !== null) return fault;
      const revision = revisionOf(connection, write) + 1;
      const at = [jsonOf(workspace), jsonOf(store)] as const;
      appendEntry(connection, entry(revision));
      connection.run(
        `INSERT INTO shared_store (workspace, store, revision) VALUES (?, ?, ?)
           ON CONFLICT (workspace, store) DO UPDATE SET revision = excluded.revision`,
        ...[...at, revision],
      );
      if (text === null)
        connection.run("DELETE FROM shared_item WHERE workspace = ? AND store = ? AND key = ?", ...at, jsonOf(key));
      else
        connection.run(
          `INSERT OR REPLACE INTO shared_item (workspace, store, key, value, revision, at, writer, is_clean, bytes)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[...at, jsonOf(key), text, revision, write.at, jsonOf(write.writer), write.isClean ? 1 : 0, bytes],
        );
      return { ok: true, revision };
    }, bytes);
  }
}

/** Null if the write may be made. */
function writeFault(connection: Connection, write: StoreWrite, bytes: number): StoreRefusal | null {
  const there = connection.get(
    "SELECT revision, bytes FROM shared_item WHERE workspace = ? AND store = ? AND key = ?",
    ...[jsonOf(write.workspace), jsonOf(write.store), jsonOf(write.key)],
  );
  const revision = there === undefined ? 0 : numberOf(there, "revision");
  if (revision !== write.revision)
    return refused("version_conflict", revision === 0 ? "there is no such item" : `it has the revision ${revision}`);
  if (write.value === undefined)
    return there === undefined ? refused("version_conflict", "there is no such item") : null;
  const row = connection.get(
    "SELECT schema FROM shared_store WHERE workspace = ? AND store = ?",
    ...[jsonOf(write.workspace), jsonOf(write.store)],
  );
  const schema = typeof row?.["schema"] === "string" ? (JSON.parse(row["schema"]) as JsonObject) : null;
  const why = write.check(schema);
  if (why !== null) return refused("invalid_input", why);
  if (bytes > storeValueBytesMax) return refused("quota", `an item has at most ${storeValueBytesMax} bytes`);
  if (isFull(connection, write)) return refused("quota", `a workspace has at most ${storesMax} stores`);
  const sums = connection.get(
    "SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes FROM shared_item WHERE workspace = ? AND store = ?",
    ...[jsonOf(write.workspace), jsonOf(write.store)],
  );
  const [count, before] = [numberOf(sums, "count"), there === undefined ? 0 : numberOf(there, "bytes")];
  const isOver = numberOf(sums, "bytes") - before + bytes > storeBytesMax;
  return isOver || (there === undefined && count >= storeItemsMax)
    ? refused("quota", `a store has at most ${storeItemsMax} items and ${storeBytesMax} bytes`)
    : null;
}

/** There are too many stores for one more. */
function isFull(connection: Connection, { workspace, store }: StoreKey): boolean {
  const row = connection.get(
    "SELECT count(*) AS count FROM shared_store WHERE workspace = ? AND store <> ?",
    ...[jsonOf(workspace), jsonOf(store)],
  );
  return numberOf(row, "count") >= storesMax;
}

function revisionOf(connection: Connection, { workspace, store }: StoreKey): number {
  const row = connection.get(
    "SELECT revision FROM shared_store WHERE workspace = ? AND store = ?",
    ...[jsonOf(workspace), jsonOf(store)],
  );
  return row === undefined ? 0 : numberOf(row, "revision");
}

function itemsIn(connection: Connection, { workspace, store }: StoreKey): readonly StoreItem[] {
  return connection
    .all("SELECT * FROM shared_item WHERE workspace = ? AND store = ? ORDER BY key", jsonOf(workspace), jsonOf(store))
    .map((row) => ({
      key: textIn(row, "key"),
      value: JSON.parse(textOf(row, "value")) as Json,
      revision: numberOf(row, "revision"),
      at: numberOf(row, "at"),
      writer: textIn(row, "writer"),
      isClean: numberOf(row, "is_clean") === 1,
    }));
}

function textIn(row: Row, column: string): string {
  return JSON.parse(textOf(row, column)) as string;
}

function refused(code: StoreRefusal["code"], message: string): StoreRefusal {
  return { ok: false, code, message };
}
