// Reads the log: by what is asked for, and one entry with everything that tells more of it.
import { readEntryBody } from "../audit/entry-body.ts";
import type { Durable } from "../ports/durable.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { LogQuery, PlacedEntry } from "../ports/log.ts";
import type { CommitLoop } from "./commit-loop.ts";
import { numberOf, textOf } from "./connection.ts";
import type { Row } from "./sqlite.ts";

export const logEntriesMax = 1_000;

export class LogReader {
  readonly #loop: CommitLoop;

  constructor(loop: CommitLoop) {
    this.#loop = loop;
  }

  log(query: LogQuery): Durable<readonly PlacedEntry[]> {
    return this.#loop.read((connection) =>
      connection
        .all(
          `SELECT place, body FROM entry WHERE (?1 IS NULL OR user = ?1) AND (?2 IS NULL OR agent = ?2) ORDER BY place DESC LIMIT ?3`,
          ...[query.user ?? null, query.agent ?? null, Math.min(query.count, logEntriesMax)],
        )
        .map(placedOf),
    );
  }

  entry(id: string): ReturnType<Ledger["entry"]> {
    return this.#loop.read((connection) => {
      const row = connection.get("SELECT place, body FROM entry WHERE id = ?", id);
      if (row === undefined) return null;
      const more = connection.all("SELECT place, body FROM entry WHERE of = ? ORDER BY place", id);
      return { entry: placedOf(row), more: more.map(placedOf) };
    });
  }
}

export function placedOf(row: Row): PlacedEntry {
  const place = numberOf(row, "place");
  const entry = readEntryBody(textOf(row, "body"));
  if (entry === null) throw new Error(`entry ${place} cannot be read`);
  return { place, entry };
}
