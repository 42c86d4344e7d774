// Delegations as they are kept: who gave what to whom, under which parent, until when.
import type { Durable } from "./durable.ts";
import type { LogEntry } from "./log.ts";

/** An agent's whole name: ids are only unique inside a workspace. */
export interface AgentName {
  readonly workspace: string | null;
  readonly agent: string;
}

export interface KeptLink {
  readonly id: string;
  /** The link it was given under, where the granter used a delegated authority; null where it gave of its own record. */
  readonly parent: string | null;
  readonly granter: AgentName;
  /** Null while it is a token nobody has claimed. */
  readonly holder: AgentName | null;
  /** Canonical compact specs. */
  readonly specs: readonly string[];
  /** Calls altogether, itself and everything below; null is not counted. */
  readonly calls: number | null;
  readonly made: number;
  readonly expires: number | null;
  /** SHA-256 of the secret part of a token; null for a link that was given by name. */
  readonly token: string | null;
  readonly revoked: number | null;
  /** On whose behalf it was given: whoever uses it does not exceed that user either. */
  readonly user: string | null;
  /** Given while the session had read nothing untrusted. Whoever holds one that was not, is not clean. */
  readonly isClean: boolean;
  /** Tools of its maker that an agent was made with, as specs. They are for an agent without a record alone. */
  readonly tools?: readonly string[];
  /** Another link that it counts with, and never without. */
  readonly countsWith?: string;
  /** The user had a record when it was given: without one it covers nothing. */
  readonly isUserLimited?: boolean;
}

/** An agent that another made: it has no text of its own, only what it was given. */
export interface MadeAgent {
  readonly name: AgentName;
  readonly creator: AgentName;
  readonly link: string;
  /** Its instructions, as written by its creator. */
  readonly body: string;
  readonly made: number;
  readonly ended: number | null;
}

export interface LinkStore {
  /** Refused as null where the id exists. `also`: a second link for the same holder, kept in the same commit. */
  make(link: KeptLink, agent: MadeAgent | null, entry: LogEntry, also?: KeptLink | null): Durable<KeptLink | null>;
  /** The link and everything below it, at once. Returns what was revoked now. */
  revoke(id: string, at: number, entry: LogEntry): Durable<readonly KeptLink[]>;
  /** A token is claimed once, by the first who shows it. */
  claim(id: string, token: string, holder: AgentName, entry: LogEntry): Durable<KeptLink | null>;
  /** Known without waiting: not revoked, held by this agent. */
  heldBy(name: AgentName): readonly KeptLink[];
  get(id: string): KeptLink | null;
  all(): readonly KeptLink[];
  made(name: AgentName): MadeAgent | null;
  allMade(): readonly MadeAgent[];
  /** Other instructions, in place of these and of no others; null where it has others by now, or has ended. */
  instruct(name: AgentName, before: string, body: string, entry: LogEntry): Durable<MadeAgent | null>;
  /** An agent that was made ends, with its links. */
  end(name: AgentName, at: number, entry: LogEntry): Durable<null>;
}
