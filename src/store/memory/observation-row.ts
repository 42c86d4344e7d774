// Rows of observations: appended inside a commit, and read in the order of their arrival, newest first.
import type { Observation } from "../../core/ports/stores/memory-store.ts";
import type { Connection } from "../connection.ts";
import type { Row } from "../sqlite.ts";
import { agentOf, agentText, bytesOf, jsonOf, plainOf } from "./memory-text.ts";

/** Of one agent; beyond it the oldest are removed. */
export const observationCountMax: number = 100_000;
export const observationBytesMax: number = 256 * 1024 * 1024;

/** Rows read in one turn. */
export const lookRowsMax: number = 128;

export interface ObservationRow {
  readonly number: number;
  readonly observation: Observation;
}

export function appendObservation(connection: Connection, observation: Observation): null {
  const holder = agentText(observation.name);
  const values = [
    ...[jsonOf(observation.id), holder, observation.session === null ? null : jsonOf(observation.session)],
    ...[observation.at, jsonOf(observation.text), JSON.stringify(observation.tags), observation.isClean ? 1 : 0],
    bytesOf(observation.text),
  ];
  connection.run("INSERT INTO observation_space (holder) VALUES (?) ON CONFLICT (holder) DO NOTHING", holder);
  connection.run(
    `INSERT INTO observation (id, holder, session, at, text, tags, is_clean, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ...values,
  );
  forgetOldest(connection, holder);
  return null;
}

/** The number to start below: above all of them, that of the given id, or 0 if there is no such id. */
export function numberOf(connection: Connection, id: string | null): number {
  if (id === null) return Number.MAX_SAFE_INTEGER;
  return Number(connection.get("SELECT number FROM observation WHERE id = ?", jsonOf(id))?.["number"] ?? 0);
}

/** The next rows below this number, of all these holders together. */
export function observationRows(
  connection: Connection,
  holders: readonly string[],
  before: number,
  since: number | null,
): readonly ObservationRow[] {
  // Numbers first, from the index alone: only the requested rows are read whole.
  const numbers = connection.prepare(
    `SELECT number FROM observation WHERE holder = ? AND number < ? AND at >= ? ORDER BY number DESC LIMIT ${lookRowsMax}`,
  );
  const whole = connection.prepare("SELECT * FROM observation WHERE number = ?");
  return holders
    .flatMap((holder) => numbers.all(holder, before, since ?? Number.MIN_SAFE_INTEGER))
    .map((row) => Number(row["number"]))
    .sort((left, right) => right - left)
    .slice(0, lookRowsMax)
    .flatMap((number) => {
      const row = whole.get(number);
      return row === undefined ? [] : [{ number, observation: observationOf(row) }];
    });
}

function observationOf(row: Row): Observation {
  return {
    id: plainOf(row["id"]),
    name: agentOf(row["holder"]),
    session: row["session"] === null ? null : plainOf(row["session"]),
    at: Number(row["at"]),
    text: plainOf(row["text"]),
    tags: JSON.parse(String(row["tags"])) as readonly string[],
    isClean: row["is_clean"] === 1,
  };
}

/** Usually removes one for each new one; more only if the new one is much larger. */
function forgetOldest(connection: Connection, holder: string): void {
  const space = connection.prepare("SELECT count, bytes FROM observation_space WHERE holder = ?");
  const oldest = connection.prepare(
    "DELETE FROM observation WHERE number = (SELECT min(number) FROM observation WHERE holder = ?)",
  );
  // Bounded by the number of rows: each iteration removes one.
  for (;;) {
    const row = space.get(holder);
    const [count, bytes] = [Number(row?.["count"] ?? 0), Number(row?.["bytes"] ?? 0)];
    if (count <= 1 || (count <= observationCountMax && bytes <= observationBytesMax)) return;
    oldest.run(holder);
  }
}
