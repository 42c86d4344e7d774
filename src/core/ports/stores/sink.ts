// A destination for a second copy of the log. It may be slow, full, stuck or gone, so callers set their own timeouts.

import type { Failure, Result } from "../../base/result.ts";
export interface SinkPosition {
  /** Position of the last entry it has stored; null if it has none. */
  readonly place: number | null;
  /** Hash of that entry; null if it does not report one. */
  readonly hash: string | null;
  /** Position of the last signed note it has stored; null if it does not report one. */
  readonly note: number | null;
  /** First position it reports; null if it does not report one. */
  readonly first: number | null;
  /** How many key-rotation notes it has at its beginning; null if it does not report that. */
  readonly rotations: number | null;
}

export type SinkResult<T> = Result<T, Failure>;

/** INVARIANT: one operation at a time. Nothing throws; an operation without a response stays pending and blocks only itself. */
export interface Sink {
  /** Its actual position. `header`: the first line of a copy, stored if the copy is empty. */
  open(header: string): Promise<SinkResult<SinkPosition>>;
  /**
   * Lines that end with the entry at `last`. Resolves when all of them are stored; `kept` is called for partial progress, with
   * the hash of that entry, and returns whether it is the expected one.
   */
  keep(lines: string, last: number, kept: (place: number, hash: string) => boolean): Promise<SinkResult<null>>;
  /** Why it has to be reopened; null while it is usable. */
  readonly trouble: string | null;
  /** The same, after checking what it has stored. */
  look(): Promise<string | null>;
  /** Closes it; it can be reopened. Data in flight may still arrive. */
  close(): void;
}

/** A sink as shown to a person. */
export interface SinkStatus {
  readonly target: string;
  /** Position of the last entry it has for certain; null if unknown. */
  readonly kept: number | null;
  /** Entries it does not have yet; null if unknown. */
  readonly behind: number | null;
  /** Whether calls are denied because of it. */
  readonly isDenying: boolean;
  readonly problem: string | null;
}
