// Signs the end of every commit of the log, and remembers the newest signature outside the database.

/** The last entry of a commit. */
export interface LogEnd {
  readonly place: number;
  readonly hash: string;
}

export interface Notary {
  /** A signed note (see `log/chain/checkpoint`) for this end. Throws where nothing can be signed: the commit fails then. */
  sign(end: LogEnd): string;
  /** Whether the note is for exactly this end and carries a signature by a key of this log. */
  isSigned(note: string, end: LogEnd): boolean;
  /**
   * The newest end that was remembered outside the database; null where none ever was, as for a new log, or one that an
   * older version wrote. Throws where something is kept there that cannot be believed.
   */
  remembered(): LogEnd | null;
  /** After the commit of this note is durable. Throws where it cannot be kept. */
  remember(note: string): void;
}
