// Discovery by capability: which agents hold at least this much.

import type { Ground } from "../../core/authority/axes/path.ts";
import { isNothing } from "../../core/authority/axes/scope.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { within } from "../../core/authority/witness/within.ts";
import type { Agent } from "./agent.ts";

/**
 * Ids of the agents within whose authority all of this lies, in the order given. As written: a grant without
 * conditions is held only by who may use it and pass it on, without asking and without end.
 * A grant that covers nothing is held by nobody: everybody would be no answer to a question that asks for nothing.
 */
export function holding(
  agents: readonly Agent[],
  grants: readonly Grant[],
  protectedPaths: Ground["protectedPaths"],
): readonly string[] {
  if (grants.length === 0 || grants.some(({ scopes }) => scopes.some(isNothing))) return [];
  return agents
    .filter(({ authority }) => within(grants, authority, { protectedPaths, delegating: false }).kind === "within")
    .map(({ id }) => id);
}
