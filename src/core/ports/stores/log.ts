// What is written down: one shape for every entry, whatever it tells of.
import type { JsonObject } from "../../base/json.ts";

/** On whose behalf, by whom, through whom. All of it stands in every entry, allowed, denied or failed. */
export interface Who {
  /** From the opener of the session; never from a model. */
  readonly user: string | null;
  readonly agent: string | null;
  /** Folder of the workspace the agent belongs to; null for an agent that was named by its file. */
  readonly workspace: string | null;
  /** Ids of the delegations it rests on, from the root down; empty for an agent's own record. */
  readonly chain: readonly string[];
  readonly session: string | null;
  readonly trace: string | null;
}

export const ENTRY_KINDS = [
  /** A call was decided: allow, or deny with a code. Before anything happens. */
  "decision",
  /** What became of a decision. */
  "outcome",
  /** Asked, approved, refused, expired, used up. */
  "approval",
  /** A link was made or revoked, an agent was created or stopped. */
  "delegation",
  /** A session was opened, pledged, tainted, closed. */
  "session",
  /** What is written about agents changed, or cannot be believed any more. */
  "authority",
  /** A secret was set, rotated, deleted, bound, used. Never its value. */
  "secret",
  /** Something that must not happen did: a canary was seen, a secret was asked for that nobody granted. */
  "alarm",
  /** A person used the control socket: freeze, thaw, stop, trust, grant. */
  "control",
  /** So many entries like the one named were counted instead of written. */
  "suppressed",
  /** The daemon started, stopped, found something, took over. */
  "daemon",
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface LogEntry extends Who {
  /** Names this entry; no two entries have the same. */
  readonly id: string;
  readonly kind: EntryKind;
  /** Milliseconds since 1970. Order is by place in the chain, never by this. */
  readonly at: number;
  readonly tool: string | null;
  readonly verbs: readonly string[];
  /** "allow", "deny", or a word of its kind: "approved", "revoked", "exited 0". */
  readonly outcome: string;
  readonly code: string | null;
  /** The entry, approval or link that this one tells more of. */
  readonly of: string | null;
  /** Requests as text, reason, deciding grants, enforcement, duration, budgets left: whatever its kind has. */
  readonly more: JsonObject;
}

/** An entry with its place in the chain. */
export interface PlacedEntry {
  readonly place: number;
  readonly entry: LogEntry;
}

export interface LogQuery {
  readonly user?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly verb?: string;
  readonly code?: string;
  readonly kind?: EntryKind;
  readonly outcome?: string;
  /** Milliseconds since 1970: not before, and before. */
  readonly since?: number;
  readonly until?: number;
  /** Words that stand anywhere in the entry. */
  readonly text?: string;
  /** Only places above it, oldest first: for following. Without it the newest come first. */
  readonly after?: number;
  /** Only places below it: the next page of the newest first. */
  readonly before?: number;
  readonly count: number;
}
