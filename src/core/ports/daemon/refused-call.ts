// A call that was refused because no daemon was running, handed to the next daemon. It is an unverified claim of its
// writer: the daemon logs it and relies on it for nothing.

export interface RefusedCall {
  /** Milliseconds since 1970, by the caller's clock. */
  readonly at: number;
  readonly agent: string | null;
  /** Null if the session could not be opened, so there was no call. */
  readonly tool: string | null;
  /** "exec", "call", "mcp", "library". */
  readonly face: string;
  readonly cwd: string;
  readonly reason: string;
}

/** The caller's identity, as far as the caller knows it. */
export type CallDescription = Omit<RefusedCall, "at" | "reason">;
