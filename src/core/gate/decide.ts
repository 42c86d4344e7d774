// Decides one request: an agent never changes itself, one chain covers the request, and only held authority is passed on.

import type { PathSettings } from "../authority/axes/path.ts";
import { isSegments } from "../authority/axes/scope.ts";
import type { Authority, Chain } from "../authority/chain.ts";
import { type Moment, WHOLE_LINK } from "../authority/compiled.ts";
import type { Basis, Decision, DenialCode } from "../authority/decision.ts";
import { delegationFault } from "../authority/delegation.ts";
import { type Grant, isCounted } from "../authority/grant.ts";
import { judge } from "../authority/judge.ts";
import type { Request } from "../authority/request.ts";
import type { Containment } from "../authority/witness/within.ts";
import type { RunRefusal } from "../ports/process.ts";
import type { Charge } from "../ports/stores/commit.ts";
import type { RootFacts } from "./programs/program-root.ts";
import { programRefusal } from "./programs/visible-files.ts";

/** Who asks, with everything that may cover it. */
export interface Caller {
  readonly agent: string;
  readonly authority: Authority;
  /** All that is written, were it trusted; for the code of a denial and nothing else. Absent where all of it counts. */
  readonly written?: (() => Authority) | null;
  /** What it held until it was revoked; for the code of a denial and nothing else. */
  readonly revoked?: (() => readonly RevokedAuthority[]) | null;
  /** Why nothing is decided for it, whatever it holds; absent or null where nothing stands in the way. */
  readonly blocked?: { readonly code: DenialCode; readonly reason: string } | null;
}

/** Chains that no longer count, and what was revoked, in words. INVARIANT: nothing is allowed by them. */
export interface RevokedAuthority {
  readonly authority: Authority;
  readonly what: string;
}

export interface Verdict {
  readonly decision: Decision;
  /** Why a delegation was refused: the request that the granter could not make. */
  readonly exceeds: Exclude<Containment, { kind: "within" }> | null;
  /** Why grants that cover the request cannot be enforced for a program, and what to write instead. */
  readonly unenforceable: RunRefusal | null;
}

/** Verbs that an agent may never use on itself, whatever it holds. */
const NEVER_ONESELF: readonly string[] = ["agent.grant", "agent.delete"];

export function decide(
  caller: Caller,
  request: Request,
  moment: Moment,
  protectedPaths: PathSettings["protectedPaths"],
): Verdict {
  const { delegation } = request;
  if (NEVER_ONESELF.includes(request.verb.verb) && [idOf(request), delegation?.target].includes(caller.agent))
    return denied("self_modification");
  const decision = judge(caller.authority, request, moment);
  // A caller acts through the agent it instructs, so it must be allowed to pass on all that the agent holds.
  const isPassing =
    request.verb.verb === "agent.grant" || (request.verb.verb === "agent.update" && delegation !== undefined);
  if (decision.outcome === "deny") return { decision, exceeds: null, unenforceable: null };
  if (!isPassing) return enforceable(caller.authority, request, decision, { moment, protectedPaths });
  // A grant that proposes nothing in particular cannot be shown to be within anything.
  if (delegation === undefined || delegation.target !== idOf(request)) return denied("invalid_input");
  const granter = { id: caller.agent, authority: caller.authority };
  const fault = delegationFault(granter, delegation.target, delegation.proposed, protectedPaths);
  if (fault === null) return { decision, exceeds: null, unenforceable: null };
  return fault.code === "self_modification" ? denied(fault.code) : denied(fault.code, fault.containment);
}

function denied(
  code: "self_modification" | "invalid_input" | "exceeds_grantor_authority",
  exceeds: Verdict["exceeds"] = null,
): Verdict {
  return { decision: { outcome: "deny", code, at: null }, exceeds, unenforceable: null };
}

/** INVARIANT: a program is allowed only where the sandbox can hold it to the same grants (decision 0077). */
function enforceable(
  authority: Authority,
  request: Request,
  decision: Exclude<Decision, { readonly outcome: "deny" }>,
  facts: RootFacts,
): Verdict {
  const level = decision.outcome === "ask" ? decision.level : 0;
  const refused = programRefusal({ authority, request, by: decision.by, level }, facts);
  if (refused === null) return { decision, exceeds: null, unenforceable: null };
  return { decision: { outcome: "deny", code: refused.code, at: null }, exceeds: null, unenforceable: refused };
}

function idOf({ verb, values }: Request): string | undefined {
  const id = values[verb.axes.findIndex((axis) => axis.name === "id")];
  return isSegments(id) ? id.segments.join("/") : undefined;
}

/** Every limited account on the way: of each deciding grant, and of each link it stands in. Once per call. */
export function chargesOf(decision: {
  readonly basis: readonly Basis[];
  readonly authority: Authority;
}): readonly Charge[] {
  const charges: Charge[] = [];
  for (const { chain, grants } of decision.basis) {
    for (let place = 0; place < grants.length; place++) {
      const link = (decision.authority[chain] as Chain)[place]?.link;
      if (link === undefined) continue;
      if (link.calls !== null) addCharge(charges, link.id, WHOLE_LINK);
      const index = grants[place] as number;
      if (isCounted((link.grants[index] as Grant).conditions)) addCharge(charges, link.id, index);
    }
  }
  return charges;
}

function addCharge(charges: Charge[], link: string, grant: number): void {
  for (const one of charges) if (one.grant === grant && one.link === link) return;
  charges.push({ link, grant });
}
