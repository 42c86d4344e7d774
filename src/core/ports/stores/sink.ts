// A second place for the log, which may be slow, full, stuck or gone. Whoever waits for it brings a clock along.

export interface SinkStanding {
  /** Of the last entry it has kept; null where it has kept none. */
  readonly place: number | null;
  /** Of that entry; null where it does not say. */
  readonly hash: string | null;
  /** Place of the last signed note it has kept; null where it does not say. */
  readonly note: number | null;
  /** Place it says that it begins with; null where it does not say. */
  readonly first: number | null;
  /** How many of the notes in which a key names the next it has, at its beginning; null where it does not say. */
  readonly rotations: number | null;
}

export type SinkAnswer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** INVARIANT: one thing is asked of it at a time. Nothing throws; what is never answered hangs alone. */
export interface Sink {
  /** Where it really stands. `header`: the line a copy begins with, kept where it has none. */
  open(header: string): Promise<SinkAnswer<SinkStanding>>;
  /**
   * Lines that end with the entry at `last`. Resolves when all of them are kept; `kept` hears of some of them before, with the
   * hash of that entry, and says whether that is the one it was given.
   */
  keep(lines: string, last: number, kept: (place: number, hash: string) => boolean): Promise<SinkAnswer<null>>;
  /** Why it has to be opened again; null as long as it can be used. */
  readonly trouble: string | null;
  /** The same after a glance at what it kept. */
  look(): Promise<string | null>;
  /** It can be opened again. What is on its way may still arrive. */
  close(): void;
}

/** A sink as a person is shown it. */
export interface SinkShown {
  readonly target: string;
  /** Place of the last entry it has for certain; null where that is not known. */
  readonly kept: number | null;
  /** Entries it does not have yet; null where that is not known. */
  readonly behind: number | null;
  /** Whether calls are denied because of it. */
  readonly isDenying: boolean;
  readonly problem: string | null;
}
