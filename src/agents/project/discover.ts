// Discovery by capability: which agents hold at least these grants.

import type { PathSettings } from "../../core/authority/axes/path.ts";
import { isNothing } from "../../core/authority/axes/scope.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { within } from "../../core/authority/witness/within.ts";
import type { Agent } from "./agent.ts";

/**
 * Ids of the agents whose authority contains all of these grants, in the given order. As written: a grant without
 * conditions is held only by an agent that may use it and pass it on, without approval and without expiry. A grant that
 * covers nothing is held by no agent: otherwise an empty question would match all of them.
 */
export function agentsThatHold(
  agents: readonly Agent[],
  grants: readonly Grant[],
  protectedPaths: PathSettings["protectedPaths"],
): readonly string[] {
  if (grants.length === 0 || grants.some(({ scopes }) => scopes.some(isNothing))) return [];
  return agents
    .filter(({ authority }) => within(grants, authority, { protectedPaths, delegating: false }).kind === "within")
    .map(({ id }) => id);
}
