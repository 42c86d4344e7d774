// Rules without effect: grants that lie within the others of the same agent. Grants add up, so a narrower one beside
// a wider one limits nothing, whatever its author hoped.

import type { PathSettings } from "../core/authority/axes/path.ts";
import { isNothing, type Scope } from "../core/authority/axes/scope.ts";
import type { VerbEntry } from "../core/authority/catalog.ts";
import { CompiledLink, type Moment } from "../core/authority/compiled.ts";
import { type Grant, isCounted, type Purpose } from "../core/authority/grant.ts";
import { ALWAYS } from "../core/authority/link.ts";
import type { Request } from "../core/authority/request.ts";
import { within } from "../core/authority/witness/within.ts";

export interface DeadRules {
  readonly dead: readonly Grant[];
  /** Some grants were not looked at: there are too many. */
  readonly cut: boolean;
}

/** Steps one agent may cost: about a thousand grants of one verb. */
const comparisonsMax = 1_000_000;

/**
 * The last first, and each without those already found, so that all of them can be deleted together.
 * INVARIANT: without them the agent may do exactly what it may do with them.
 */
export function deadRules(
  grants: readonly Grant[],
  now: number,
  protectedPaths: PathSettings["protectedPaths"],
): DeadRules {
  const live = grants.filter(
    ({ scopes, conditions }) => !scopes.some(isNothing) && (conditions.expires === null || conditions.expires > now),
  );
  const others = new OtherGrants(live);
  const dead = (): readonly Grant[] => live.filter((_, place) => others.without.has(place));
  let left = comparisonsMax;
  // Among fewer grants a comparison may be decidable that was not before.
  for (let isRepeated = true; isRepeated; ) {
    let [isFound, isUndecided] = [false, false];
    for (let place = live.length - 1; place >= 0; place--) {
      const grant = live[place] as Grant;
      // An implied grant has no line that could be deleted.
      if (others.without.has(place) || grant.implied !== null) continue;
      others.without.add(place);
      const alike = others.grantsOf(grant.verb).length;
      left -= alike + costOf(grant);
      const answer =
        alike === 0 || left < 0 ? null : within([grant], [[others]], { protectedPaths, delegating: false }).kind;
      if (answer === "within") isFound = true;
      else others.without.delete(place);
      if (left < 0) return { dead: dead(), cut: true };
      isUndecided ||= answer !== null && answer !== "within" && answer !== "exceeds";
    }
    isRepeated = isFound && isUndecided;
  }
  return { dead: dead(), cut: false };
}

/** One index over all grants, of which some are left out: made once, however many questions are asked. */
class OtherGrants extends CompiledLink {
  readonly without = new Set<number>();

  constructor(grants: readonly Grant[]) {
    super({ id: "own", role: "own", issuer: "person", holder: "agent", grants, validity: ALWAYS, calls: null });
  }

  override grantsOf(verb: VerbEntry): readonly number[] {
    return super.grantsOf(verb).filter((place) => !this.#isOut(place));
  }

  override covers(request: Request, moment: Moment, purpose: Purpose | null): number {
    return super.covers(request, { ...moment, exhausted: (_link, place) => this.#isOut(place) }, purpose);
  }

  /** What has a budget can run out, and then the other grant counts. */
  #isOut(place: number): boolean {
    const held = this.link.grants[place]?.conditions;
    return this.without.has(place) || held === undefined || isCounted(held);
  }
}

/** About as many requests as `within` will ask. */
function costOf({ scopes }: Grant): number {
  return scopes.reduce((product, scope) => product * Math.max(1, sizeOf(scope)), 1);
}

function sizeOf(scope: Scope): number {
  switch (scope.kind) {
    case "any":
      return 1;
    case "sequences":
    case "ports":
    case "words":
      return scope.of.length;
    case "destinations":
      return scope.names.length + scope.ranges.length + scope.openings.length;
    case "arguments":
      return scope.constrained.length;
  }
}
