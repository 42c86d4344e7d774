// Roots as users write them, and decisions as plans take them.

import { parsePath } from "../../core/authority/axes/path.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Decision } from "../../core/authority/decision.ts";
import type { Level } from "../../core/authority/grant.ts";
import type { Request } from "../../core/authority/request.ts";
import { type PlanningResult, planValue, refusePlan } from "../../core/gate/programs/plan-refusal.ts";
import type { PlanDecision } from "../../core/gate/programs/program-root.ts";
import type { PlanPath } from "./plan.ts";

/** Null where the decision denies, or requires a higher approval level. */
export function planDecision(
  authority: Authority,
  request: Request,
  decision: Decision,
  approved: Level,
): PlanDecision | null {
  switch (decision.outcome) {
    case "allow":
      return { authority, request, by: decision.by, level: 0 };
    case "ask":
      return decision.level > approved ? null : { authority, request, by: decision.by, level: decision.level };
    case "deny":
      return null;
    default:
      return decision satisfies never;
  }
}

/** A folder as a user writes it, for a root: absolute, one folder, and not `/`. */
export function parsePlanRoot(text: string): PlanningResult<PlanPath> {
  const path = parsePath(text, { home: null, base: null, protectedPaths: [] });
  if (!path.ok) return refusePlan("invalid_input", `a root is an absolute path: ${path.message}`);
  if (path.value.segments.length === 0) return refusePlan("scope_violation", WHOLE_MACHINE, NARROWER);
  return planValue(path.value.segments);
}

export const WHOLE_MACHINE = "the whole machine is never a root";
export const NARROWER = "name the project's own folder";
