// Reads and edits the log like a program that can write to the file, for tests.
import type { ChainRow } from "../../core/ports/stores/chain-rows.ts";
import { lineOf, rowsOf } from "../log/leaf.ts";
import type { Database } from "../sqlite.ts";

export function readLog(database: Database): readonly ChainRow[] {
  return database.prepare("SELECT first, entries FROM leaf ORDER BY last").all().flatMap(rowsOf);
}

/** Drops the constraints of the file first. Adjacent entries are stored in leaves of this size. */
export function editLog(database: Database, edit: (rows: ChainRow[]) => readonly ChainRow[], entriesPerLeaf = 1): void {
  for (const trigger of ["leaf_kept", "leaf_stays", "leaf_behind"]) database.exec(`DROP TRIGGER IF EXISTS ${trigger}`);
  const rows = edit([...readLog(database)]);
  database.exec("DELETE FROM leaf");
  const insert = database.prepare("INSERT INTO leaf (last, first, entries) VALUES (?, ?, ?)");
  for (let at = 0; at < rows.length; at += entriesPerLeaf) {
    const part = rows.slice(at, at + entriesPerLeaf);
    const lines = part.map(({ hash, body }) => lineOf(hash, body));
    const first = part[0]?.place ?? 0;
    insert.run(first + part.length - 1, first, `[\n${lines.join(",\n")}\n]`);
  }
}

/** Changes one entry and nothing else. */
export function editEntry(database: Database, place: number, change: (row: ChainRow) => Partial<ChainRow>): void {
  editLog(database, (rows) => rows.map((row) => (row.place === place ? { ...row, ...change(row) } : row)));
}
