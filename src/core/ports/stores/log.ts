// Log entries: one shape for every kind.
import type { JsonObject } from "../../base/json.ts";

/** The user of an entry as its record describes them. Later kinds of principals are further members. */
export interface PrincipalView {
  readonly user: string;
  readonly name: string | null;
  readonly address: string | null;
  readonly groups: readonly string[];
}

/** User, agent and delegations. Every entry has all of them, whether allowed, denied or failed. */
export interface Who {
  /** From the client that opened the session; never from a model. */
  readonly user: string | null;
  /** What the user's record says of them, and the names it gives for conditions; absent without a user. */
  readonly principal?: PrincipalView | undefined;
  readonly agent: string | null;
  /** Every agent of the chain, from the one whose record it rests on to `agent`; absent without an agent. */
  readonly agents?: readonly string[] | undefined;
  /** Workspace folder of the agent; null for an agent named by a file path. */
  readonly workspace: string | null;
  /** Ids of the delegations it rests on, from the root down; empty for an agent's own record. */
  readonly chain: readonly string[];
  readonly session: string | null;
  readonly trace: string | null;
}

export const ENTRY_KINDS = [
  /** A decision on a call: allow, or deny with a code. Written before any effect. */
  "decision",
  /** The outcome of a decision. */
  "outcome",
  /** Requested, approved, refused, expired, used up. */
  "approval",
  /** A link was created or revoked, an agent was created or stopped. */
  "delegation",
  /** A session was opened, pledged, tainted, closed. */
  "session",
  /** Not written any more; logs of older versions may contain it. */
  "authority",
  /** A secret was set, rotated, deleted, bound, used. Never its value. */
  "secret",
  /** A security alarm: a canary was seen, an ungranted secret was requested. */
  "alarm",
  /** A person used the control socket: freeze, thaw, stop, trust, grant. */
  "control",
  /** A count of entries like the named one that were not written. */
  "suppressed",
  /** The daemon started, stopped, found a problem, took over. */
  "daemon",
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface LogEntry extends Who {
  /** Unique id of this entry. */
  readonly id: string;
  readonly kind: EntryKind;
  /** Milliseconds since 1970. Entries are ordered by chain position, never by this. */
  readonly at: number;
  readonly tool: string | null;
  readonly verbs: readonly string[];
  /** "allow", "deny", or an outcome of its kind: "approved", "revoked", "exited 0". */
  readonly outcome: string;
  readonly code: string | null;
  /** The entry, approval or link that this one is about. */
  readonly of: string | null;
  /** Fields of its kind: requests as text, reason, deciding grants, enforcement, duration, remaining budgets. */
  readonly more: JsonObject;
}

/** An entry with its position in the chain. */
export interface ChainedEntry {
  readonly place: number;
  readonly entry: LogEntry;
}

export interface LogQuery {
  readonly user?: string;
  readonly agent?: string;
  readonly session?: string;
  /** The folder of a workspace, as entries name it. */
  readonly workspace?: string;
  readonly verb?: string;
  readonly code?: string;
  readonly kind?: EntryKind;
  readonly outcome?: string;
  /** Milliseconds since 1970: start (inclusive) and end (exclusive). */
  readonly since?: number;
  readonly until?: number;
  /** Words that appear anywhere in the entry. */
  readonly text?: string;
  /** Only positions above it, oldest first: for following. Without it the newest come first. */
  readonly after?: number;
  /** Only positions below it: the next page, newest first. */
  readonly before?: number;
  readonly count: number;
}
