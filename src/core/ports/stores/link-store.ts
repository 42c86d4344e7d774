// Stored delegations: granter, holder, grants, parent and expiry.
import type { Durable } from "./durable.ts";
import type { LogEntry } from "./log.ts";

/** An agent's full name: ids are only unique inside a workspace, and those of made agents only for their user. */
export interface AgentName {
  readonly workspace: string | null;
  readonly agent: string;
  /** The user an agent was made for; absent for agents with a record, and for those made for no user. */
  readonly user?: string;
}

export interface StoredLink {
  readonly id: string;
  /** The parent link, if the granter used a delegated authority; null if it granted from its own record. */
  readonly parent: string | null;
  readonly granter: AgentName;
  /** Null for a token that is not claimed yet. */
  readonly holder: AgentName | null;
  /** Canonical compact specs. */
  readonly specs: readonly string[];
  /** Total calls of this link and everything below it; null means uncounted. */
  readonly calls: number | null;
  readonly made: number;
  readonly expires: number | null;
  /** SHA-256 of the secret part of a token; null for a link granted by name. */
  readonly token: string | null;
  readonly revoked: number | null;
  /** The user it was granted for: every holder is limited by that user's ceiling, too. */
  readonly user: string | null;
  /** Granted while the session had read nothing untrusted. A session that holds one that was not is not clean. */
  readonly isClean: boolean;
  /** Tools that a created agent inherits from its creator, as specs. Used only for an agent without a record. */
  readonly tools?: readonly string[];
  /** Another link that must be valid for this one to count. */
  readonly countsWith?: string;
  /** The user had a record when it was granted: without that record it covers nothing. */
  readonly isUserLimited?: boolean;
}

/** An agent created by another agent: it has no record, only delegated grants. */
export interface CreatedAgent {
  readonly name: AgentName;
  readonly creator: AgentName;
  readonly link: string;
  /** Its instructions, as written by its creator. */
  readonly body: string;
  readonly made: number;
  readonly ended: number | null;
  /** Of an agent that was hired: it reports to its creator, and works on tasks with the creator's client. */
  readonly role?: string;
}

export interface LinkStore {
  /**
   * Null if the id exists. `also`: a second link for the same holder, stored in the same commit. `most`: null if the creator of the
   * agent has this many agents already.
   */
  make(
    link: StoredLink,
    agent: CreatedAgent | null,
    entry: LogEntry,
    also?: StoredLink | null,
    most?: number | null,
  ): Durable<StoredLink | null>;
  /** Revokes the link and everything below it at once. Returns what was revoked now. */
  revoke(id: string, at: number, entry: LogEntry): Durable<readonly StoredLink[]>;
  /** A token is claimed once, by the first agent that presents it. */
  claim(id: string, token: string, holder: AgentName, entry: LogEntry): Durable<StoredLink | null>;
  /** Synchronous: not revoked, held by this agent. */
  heldBy(name: AgentName): readonly StoredLink[];
  get(id: string): StoredLink | null;
  all(): readonly StoredLink[];
  made(name: AgentName): CreatedAgent | null;
  allMade(): readonly CreatedAgent[];
  /** Replaces the instructions if they still are the expected ones; null if they changed, or the agent has ended. */
  instruct(name: AgentName, before: string, body: string, entry: LogEntry): Durable<CreatedAgent | null>;
  /** Ends a created agent and its links. */
  end(name: AgentName, at: number, entry: LogEntry): Durable<null>;
}
