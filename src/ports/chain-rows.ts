// The log as its verifier needs it: rows of a chain of hashes, and the signed notes that say how far it went.
import type { Durable } from "./durable.ts";
import type { LogEntry } from "./log.ts";

export interface ChainRow {
  readonly place: number;
  /** The entry as canonical JSON; what is hashed. */
  readonly body: string;
  /** Lower-case hexadecimal SHA-256 over the hash before it and the body. */
  readonly hash: string;
}

/** A signed note: how many entries there were and what the last hash was. */
export interface CheckpointRow {
  readonly place: number;
  readonly text: string;
}

export interface ChainStore {
  /** Up to `count` rows from a place on, in order. */
  rows(from: number, count: number): Durable<readonly ChainRow[]>;
  checkpoints(from: number): Durable<readonly CheckpointRow[]>;
  /** Place and hash of the last row; place 0 and the zero hash where there is none. */
  head(): Durable<{ readonly place: number; readonly hash: string }>;
  /** The first place that is still kept: 1, or what retention left. */
  first(): Durable<number>;
  /** The first place between two that searches would not find as its entry is written; null where there is none. */
  unindexed(from: number, to: number): Durable<number | null>;
  keepCheckpoint(row: CheckpointRow): Durable<null>;
  /** Removes what lies before the place, which must be just behind a kept checkpoint; the entry says so, in the same step. */
  prune(before: number, entry: LogEntry): Durable<{ readonly removed: number }>;
}
