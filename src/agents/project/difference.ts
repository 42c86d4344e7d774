// The difference in authority between two texts of one agent: what became possible and what is no longer possible, each
// with an example request.

import type { PathSettings } from "../../core/authority/axes/path.ts";
import type { Grant } from "../../core/authority/grant.ts";
import type { Link } from "../../core/authority/link.ts";
import type { Request } from "../../core/authority/request.ts";
import { type Because, type Containment, withinEach } from "../../core/authority/witness/within.ts";
import { approversWithin } from "../../core/notation/config/approvers.ts";
import { isAsStrict } from "../../core/notation/policy/outer-policies.ts";
import { isBudgetWithin } from "../../org/budget.ts";
import type { Agent } from "./agent.ts";
import { moreBudget } from "./budgets.ts";

/**
 * `budget`: the same requests, more of them. `generation`: valid in more generations. `approvers`: fewer or other
 * approvers are enough. `land`: programs land without a review. `users`: also for users without a record. `policy`:
 * a policy denies less of what others delegate. `unknown`: cannot be proved.
 */
export type ChangeReason =
  | Because
  | "budget"
  | "generation"
  | "mode"
  | "approvers"
  | "land"
  | "users"
  | "policy"
  | "unknown";

export interface Change {
  /** The grant that allows the request on one side; null if the change is not about a grant. */
  readonly grant: Grant | null;
  /** A request that is possible on one side only; null if none can be found. */
  readonly example: Request | null;
  readonly because: ChangeReason;
}

export interface Difference {
  readonly widened: readonly Change[];
  readonly narrowed: readonly Change[];
}

export function differenceOf(before: Agent, after: Agent, protectedPaths: PathSettings["protectedPaths"]): Difference {
  return { widened: added(before, after, protectedPaths), narrowed: added(after, before, protectedPaths) };
}

/** What `to` can do that `from` cannot. */
function added(from: Agent, to: Agent, protectedPaths: PathSettings["protectedPaths"]): readonly Change[] {
  const changes: Change[] = [];
  const options = { protectedPaths, delegating: false };
  const inside: Grant[] = [];
  for (const [index, containment] of withinEach(to.grants, from.authority, options).entries()) {
    const grant = to.grants[index] as Grant;
    if (containment.kind === "within") inside.push(grant);
    else changes.push(changeOf(grant, containment));
  }
  for (const grant of moreBudget(from.grants, inside, protectedPaths))
    changes.push({ grant, example: null, because: "budget" });
  const held = linkOf(from);
  const wanted = linkOf(to);
  if (wanted.grants.length > 0 && more(wanted.calls, held.calls))
    changes.push({ grant: null, example: null, because: "budget" });
  if (wanted.grants.length > 0 && !generationsWithin(wanted, held))
    changes.push({ grant: null, example: null, because: "generation" });
  // The meaning of a mode is defined elsewhere; a changed mode is always reported.
  if (to.grants.length > 0 && !approversWithin(to.approvers, from.approvers))
    changes.push({ grant: null, example: null, because: "approvers" });
  if (to.grants.length > 0 && from.needsReview && !to.needsReview)
    changes.push({ grant: null, example: null, because: "land" });
  if (to.grants.length > 0 && from.isUserRequired === true && to.isUserRequired !== true)
    changes.push({ grant: null, example: null, because: "users" });
  if (to.grants.length > 0 && !isAsStrict(to.policyLimits ?? new Map(), from.policyLimits ?? new Map()))
    changes.push({ grant: null, example: null, because: "policy" });
  if (to.grants.length > 0 && !isBudgetWithin(to.budgets ?? [], from.budgets ?? []))
    changes.push({ grant: null, example: null, because: "budget" });
  if (from.mode !== to.mode) changes.push({ grant: null, example: null, because: "mode" });
  return changes;
}

function changeOf(grant: Grant, containment: Exclude<Containment, { kind: "within" }>): Change {
  if (containment.kind === "unknown") return { grant, example: null, because: "unknown" };
  return { grant, example: containment.request, because: containment.because };
}

function linkOf(agent: Agent): Link {
  const link = agent.authority[0]?.[0].link;
  if (link === undefined) throw new Error("an agent's own text is one link");
  return link;
}

/** Null means unlimited. */
function more(wanted: number | null, held: number | null): boolean {
  return held !== null && (wanted === null || wanted > held);
}

function generationsWithin(wanted: Link, held: Link): boolean {
  const limit = held.validity.generations;
  if (limit === null) return true;
  const generations = wanted.validity.generations;
  return generations?.every((generation) => limit.includes(generation)) ?? false;
}
