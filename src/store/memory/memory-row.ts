// Rows of the memory: lookups, and conversion to values.
import type { MemoryValue } from "../../core/ports/stores/memory-store.ts";
import type { Connection } from "../connection.ts";
import type { Row } from "../sqlite.ts";
import { agentOf, plainOf, plainOfKey } from "./memory-text.ts";

/** Rows read in one turn. */
export const lookRowsMax: number = 256;

/** A key to continue from, and whether it is included. */
export interface KeyPosition {
  readonly key: Uint8Array;
  readonly isIn: boolean;
}

export function rowOf(connection: Connection, space: string, key: Uint8Array): Row | undefined {
  return connection.get("SELECT * FROM memory WHERE namespace = ? AND key = ?", space, key);
}

export function rowsFrom(connection: Connection, space: string, place: KeyPosition): readonly Row[] {
  const sign = place.isIn ? ">=" : ">";
  return connection.all(
    `SELECT * FROM memory WHERE namespace = ? AND key ${sign} ? ORDER BY key LIMIT ${lookRowsMax}`,
    space,
    place.key,
  );
}

/** Expired: absent, whether or not it was swept. */
export function isOver(row: Row, now: number): boolean {
  return row["expires"] !== null && Number(row["expires"]) <= now;
}

export function memoryOf(row: Row): MemoryValue {
  return {
    key: plainOfKey(row["key"]),
    value: plainOf(row["value"]),
    version: Number(row["version"]),
    at: Number(row["at"]),
    expires: row["expires"] === null ? null : Number(row["expires"]),
    isClean: row["is_clean"] === 1,
    writer: agentOf(row["writer"]),
  };
}
