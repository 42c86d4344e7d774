// Decides paths while a file tool runs: requests of the warrant are not decided again, and every other path that the
// call reaches, through links or in folders, is decided by the current grants.

import { isSegments } from "../../core/authority/axes/scope.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { countedIsSpent } from "../../core/authority/counted.ts";
import type { Basis, Decision } from "../../core/authority/decision.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import type { FilePath } from "../../core/ports/files.ts";
import type { Judge } from "../../core/ports/judge.ts";

/** The authority of a session at one moment. */
export interface HeldAuthority {
  readonly authority: Authority;
  readonly moment: Moment;
}

const GONE: Decision = { outcome: "deny", code: "revoked", at: null };
const KEPT: Decision = { outcome: "deny", code: "self_modification", at: null };
/** Approval cannot be requested during a call: a call that names the path itself requests it before it runs. */
const UNASKED: Decision = { outcome: "deny", code: "approval_required", at: null };

/** How one call may change paths. */
export interface ChangeRules {
  /** free: by grants. ask: only if this path was approved. never: whatever is granted. */
  classOf(path: FilePath): "free" | "ask" | "never";
  /** The call creates missing folders above its file, and writes nothing else there. */
  readonly makesFolders: boolean;
}

/**
 * `requests`: those of the warrant. They were charged and, if required, approved; an approval of a folder covers what
 * the same grants cover below it, because that is what the approver was shown.
 */
export function callJudge(
  requests: readonly Request[],
  holds: () => HeldAuthority | null,
  { classOf, makesFolders }: ChangeRules,
): Judge {
  let before: HeldAuthority | null = null;
  let unpaid: Moment | null = null;
  /** A folder needs many decisions with the same authority: its spent budgets are computed once. */
  const unpaidIn = (held: HeldAuthority): Moment => {
    if (unpaid === null || before?.authority !== held.authority || before.moment !== held.moment)
      unpaid = { ...held.moment, exhausted: countedIsSpent(held.authority) };
    before = held;
    return unpaid;
  };
  return (request) => {
    const path = pathOf(request);
    const held = holds();
    if (held === null || path === null) return GONE;
    const change = request.verb.verb === "fs.read" ? "free" : classOf(path);
    if (change === "never") return KEPT;
    if (change === "ask" && !isAgreed(requests, request, path, makesFolders)) return UNASKED;
    const { authority, moment } = held;
    if (requests.some((one) => isSame(one, request))) {
      const decision = judge(authority, request, paidFor(moment));
      return decision.outcome === "ask" ? { outcome: "allow", by: decision.by } : decision;
    }
    const decision = judge(authority, request, unpaidIn(held));
    if (decision.outcome !== "ask") return decision;
    const isApproved = requests.some((one) => {
      const asked = pathOf(one);
      if (one.verb !== request.verb || asked === null || !asked.every((name, at) => name === path[at])) return false;
      const above = judge(authority, one, paidFor(moment));
      return above.outcome === "ask" && above.level >= decision.level && isSameBasis(above.by, decision.by);
    });
    return isApproved ? { outcome: "allow", by: decision.by } : decision;
  };
}

/** The gate asks for approval of every request marked as a trigger: only those were approved. */
function isAgreed(requests: readonly Request[], request: Request, path: FilePath, makesFolders: boolean): boolean {
  return requests.some((one) => {
    if (one.isTrigger !== true || one.verb !== request.verb) return false;
    if (isSame(one, request)) return true;
    const agreed = pathOf(one);
    return makesFolders && agreed !== null && path.every((name, at) => name === agreed[at]);
  });
}

/** The call itself was charged when it was decided. */
function paidFor(moment: Moment): Moment {
  return { ...moment, exhausted: null };
}

function pathOf({ values }: Request): FilePath | null {
  const [value] = values;
  return value !== undefined && isSegments(value) ? value.segments : null;
}

/** The same verb and path. The judge checks protected segments again. */
function isSame(left: Request, right: Request): boolean {
  const [one, other] = [pathOf(left), pathOf(right)];
  if (left.verb !== right.verb || one === null || other === null || one.length !== other.length) return false;
  return one.every((name, at) => name === other[at]);
}

function isSameBasis(left: Basis, right: Basis): boolean {
  return left.chain === right.chain && left.grants.every((grant, at) => grant === right.grants[at]);
}
