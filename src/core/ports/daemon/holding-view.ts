// What an agent holds now, and how one request would be decided, as the daemon tells it to a person.
import type { Risk } from "../../authority/catalog.ts";
import type { LinkFault } from "../../authority/chain.ts";
import type { DenialCode } from "../../authority/decision.ts";

/** Which agent, and on what terms: as a session would be opened. */
export interface HoldingRequest {
  readonly cwd: string;
  readonly agent: string;
  readonly user: string | null;
  readonly pledge: readonly string[] | null;
}

export interface HeldGrantView {
  /** As it may be written into a record: less where a part of it has no spelling of its own. */
  readonly grant: string;
  /** As it reads now. */
  readonly shown: string;
  readonly risk: Risk;
  readonly effect: string;
  readonly isExpired: boolean;
}

/** The grants of one chain, already limited by everything around them. */
export interface HeldChainView {
  /** The delegation it comes from; null for the agent's own record. */
  readonly link: string | null;
  /** The agent that delegated it. */
  readonly from: string | null;
  /** Ceilings and pledges around it, in words. */
  readonly limits: readonly string[];
  /** Why nothing of it counts now. */
  readonly fault: LinkFault | null;
  readonly expires: number | null;
  /** False if not all of it could be written out: more is held than is shown. */
  readonly isComplete: boolean;
  readonly grants: readonly HeldGrantView[];
}

export interface HoldingView {
  readonly agent: string;
  readonly workspace: string | null;
  /** Written by a person; false for an agent that another agent created. */
  readonly isRecord: boolean;
  /** Why every call is denied: frozen, or its user is unknown. */
  readonly blocked: { readonly code: DenialCode; readonly reason: string } | null;
  readonly notes: readonly string[];
  readonly chains: readonly HeldChainView[];
}

export interface DecisionView {
  readonly outcome: "allow" | "ask" | "deny";
  readonly request: string;
  readonly code: DenialCode | null;
  readonly level: "ask" | "presence" | null;
  /** What stands behind the code: what was revoked, or why everything is denied. */
  readonly reason: string | null;
  /** The link that denied, in words. */
  readonly link: string | null;
  readonly by: readonly { readonly grant: string; readonly link: string; readonly at: string | null }[];
}
