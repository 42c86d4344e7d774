// Signs the end of every log commit, and stores the newest signature outside the database.

/** The last entry of a commit. */
export interface LogEnd {
  readonly place: number;
  readonly hash: string;
}

export interface Notary {
  /** A signed note (see `log/chain/checkpoint`) for this end. Throws if signing fails, which fails the commit. */
  sign(end: LogEnd): string;
  /** Whether the note is for exactly this end and signed by a key of this log. */
  isSigned(note: string, end: LogEnd): boolean;
  /**
   * The newest end stored outside the database; null if there is none, as for a new log, or one written by an older
   * version. Throws if the stored note is invalid.
   */
  remembered(): LogEnd | null;
  /** Called after the commit of this note is durable. Throws if it cannot be stored. */
  remember(note: string): void;
}
