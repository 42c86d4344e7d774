// The power of the agent tools: the agents of the caller's workspace, with what each of them holds and is told to do.

import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Grant } from "../../core/authority/grant.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Failure } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { UseDenial, UseResult } from "../../runtime/context/use-result.ts";

/** An agent by its id. A record takes precedence over a created agent with the same id. */
export type FoundAgent =
  | { readonly kind: "record"; readonly text: string; readonly bodyStart: number; readonly written: readonly Grant[] }
  | { readonly kind: "made"; readonly body: string }
  /** Its holding cannot be determined from its record. */
  | { readonly kind: "broken" };

export type InstructResult = { readonly ok: true } | Failure | "changed";

export interface AgentPowers {
  readonly agents: AgentAccess;
}

export interface AgentAccess {
  /** The agent that calls. */
  readonly caller: string;
  /** False for an agent that was loaded from a file: it has no workspace with other agents. */
  readonly hasWorkspace: boolean;
  /** Null if the session has no grants any more. */
  held(): { readonly authority: Authority; readonly reading: Reading; readonly moment: Moment } | null;
  /** Whether the call was decided on all of these. */
  isDecided(requests: readonly Request[]): boolean;
  /** Logs a denial of the running call, and returns it. */
  refuse(request: Request, code: DenialCode, message: string): UseDenial;
  /** Ends the event-loop turn. */
  pause(): Promise<void>;
  /** Ids of all agents, sorted: those with a record, and created ones. */
  ids(): readonly string[];
  find(id: string): FoundAgent | null;
  /** Everything it may ever use: its record as written, and its delegations. */
  grantsOf(id: string, found: FoundAgent): readonly Grant[];
  authorityOf(id: string): Authority;
  /** A record's purpose, and whether a person trusts its current text. */
  description(id: string): { readonly text: string | null; readonly isTrusted: boolean };
  /** Replaces the instructions, if they are unchanged. INVARIANT: the frontmatter stays byte for byte as it is. */
  instruct(
    id: string,
    found: Exclude<FoundAgent, { readonly kind: "broken" }>,
    body: string,
    version: string,
  ): Promise<InstructResult>;
  /** Ends a created agent and what was delegated to the agent, and removes its record; returns the removed file. */
  remove(id: string, found: FoundAgent): Promise<UseResult<{ readonly record: string | null }>>;
  /** The call has read what may be another person's text. */
  taint(): void;
}
