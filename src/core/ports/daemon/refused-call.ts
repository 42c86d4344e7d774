// A call that nobody could decide because no daemon was there, as it is handed over to the next one. It is a claim of whoever
// wrote it, and is believed for nothing: it is written down, and that is all.

export interface RefusedCall {
  /** Milliseconds since 1970, by the clock of the caller. */
  readonly at: number;
  readonly agent: string | null;
  /** Null where it did not come to a call: the session could not be opened. */
  readonly tool: string | null;
  /** "exec", "call", "mcp", "library". */
  readonly face: string;
  readonly cwd: string;
  readonly reason: string;
}

/** Whose call it was, as far as the caller knows. */
export type CallAbout = Omit<RefusedCall, "at" | "reason">;
