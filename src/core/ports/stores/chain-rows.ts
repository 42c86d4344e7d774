// The log as its verifier reads it: rows of a hash chain, and signed checkpoints.
import type { Durable } from "./durable.ts";
import type { LogEntry } from "./log.ts";

export interface ChainRow {
  readonly place: number;
  /** The entry as canonical JSON; this is what is hashed. */
  readonly body: string;
  /** Lower-case hexadecimal SHA-256 over the previous hash and the body. */
  readonly hash: string;
}

/** A signed note: the number of entries and the last hash. */
export interface CheckpointRow {
  readonly place: number;
  readonly text: string;
}

export interface ChainStore {
  /** Up to `count` rows from a position, in order. */
  rows(from: number, count: number): Durable<readonly ChainRow[]>;
  checkpoints(from: number): Durable<readonly CheckpointRow[]>;
  /** Position and hash of the last row; position 0 and the zero hash if the log is empty. */
  head(): Durable<{ readonly place: number; readonly hash: string }>;
  /** The first position still stored: 1, or later after retention. */
  first(): Durable<number>;
  /** The first place between two that searches would not find as its entry is written; null where there is none. */
  unindexed(from: number, to: number): Durable<number | null>;
  keepCheckpoint(row: CheckpointRow): Durable<null>;
  /** Removes rows before the position, which must directly follow a stored checkpoint; adds the entry in the same transaction. */
  prune(before: number, entry: LogEntry): Durable<{ readonly removed: number }>;
}
