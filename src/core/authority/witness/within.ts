// Is everything these grants allow also allowed by that authority? Exact over unions, with a concrete request as the
// counterexample. Past the caps the answer is "cannot show", which every caller treats as a refusal.

import { witnessesMax } from "../../base/limits.ts";
import type { PathSettings } from "../axes/path.ts";
import type { Value } from "../axes/scope.ts";
import type { Authority, Chain } from "../chain.ts";
import { purposeAt } from "../chain.ts";
import { type CompiledLink, grantMatches, type Moment } from "../compiled.ts";
import type { Grant, Level, Purpose } from "../grant.ts";
import { leastPrincipals, type Principal } from "../principal.ts";
import type { Request } from "../request.ts";
import { concreteRequest } from "./concrete.ts";
import { type AxisFacts, factsOf } from "./facts.ts";
import { TOO_MANY } from "./witness.ts";
import { NO_FACTS, scopeWitnesses } from "./witness-axis.ts";

export type Containment =
  | { readonly kind: "within" }
  | { readonly kind: "exceeds"; readonly grant: number; readonly request: Request; readonly because: Because }
  | { readonly kind: "unknown"; readonly grant: number };

/** What of the extended request is not covered: the request itself, or only the condition it would be made under. */
export type Because = "request" | "ask" | "expires" | "clean" | "pass" | "users";

export interface WithinOptions {
  readonly protectedPaths: PathSettings["protectedPaths"];
  /** The grants are about to be passed on: only what may be passed on counts. */
  readonly delegating: boolean;
}

const FOREVER = Number.POSITIVE_INFINITY;

export function within(child: readonly Grant[], parent: Authority, options: WithinOptions): Containment {
  const facts = new Map<string, readonly AxisFacts[]>();
  for (const [index, grant] of child.entries()) {
    const verdict = grantWithin(grant, index, parent, options, facts);
    if (verdict !== null) return verdict;
  }
  return { kind: "within" };
}

/** The same of every grant by itself. What the other side can tell apart is learned once for all of them. */
export function withinEach(child: readonly Grant[], parent: Authority, options: WithinOptions): readonly Containment[] {
  const facts = new Map<string, readonly AxisFacts[]>();
  return child.map((grant, index) => grantWithin(grant, index, parent, options, facts) ?? { kind: "within" });
}

function grantWithin(
  grant: Grant,
  index: number,
  parent: Authority,
  options: WithinOptions,
  cache: Map<string, readonly AxisFacts[]>,
): Containment | null {
  let facts = cache.get(grant.verb.verb);
  if (facts === undefined) {
    facts = learn(grant, parent);
    cache.set(grant.verb.verb, facts);
  }
  const lists: (readonly Value[])[] = [];
  let count = 1;
  for (const [axis, scope] of grant.scopes.entries()) {
    const kind = (grant.verb.axes[axis] as { kind: Parameters<typeof scopeWitnesses>[1] }).kind;
    const found = scopeWitnesses(scope, kind, facts[axis] ?? NO_FACTS, options.protectedPaths);
    if (found === TOO_MANY) return { kind: "unknown", grant: index };
    count *= found.length;
    lists.push(found);
  }
  if (count === 0) return null;
  if (count > witnessesMax) return { kind: "unknown", grant: index };
  const moments = hardest(grant);
  const purposes: readonly Purpose[] = options.delegating
    ? ["pass"]
    : grant.conditions.pass === "both"
      ? ["use", "pass"]
      : [grant.conditions.pass];
  for (let number = 0; number < count; number++) {
    const request: Request = { verb: grant.verb, values: pick(lists, number) };
    // A witness that the grant itself does not cover (its pattern matches nothing there) proves nothing.
    if (!grantMatches(grant, request.values)) continue;
    for (const purpose of purposes) {
      const at = moments.find((one) => !covered(parent, request, one, purpose, grant.conditions.ask));
      if (at === undefined) continue;
      const proves = (other: Request): boolean =>
        grantMatches(grant, other.values) && !covered(parent, other, at, purpose, grant.conditions.ask);
      const shown = concreteRequest(request, options.protectedPaths, proves);
      return { kind: "exceeds", grant: index, request: shown, because: reason(parent, shown, grant, purpose, at) };
    }
  }
  return null;
}

function learn(grant: Grant, parent: Authority): readonly AxisFacts[] {
  const facts: AxisFacts[] = [];
  for (const chain of parent)
    for (const compiled of chain) factsOf(compiled.link.grants, compiled.grantsOf(grant.verb), facts);
  return facts;
}

/**
 * The moments at which a grant of the other side has the hardest time to cover: the latest, not clean, and for each user or
 * group that the grant names one in which nothing else is known of the session.
 */
function hardest({ conditions }: Grant): readonly Moment[] {
  const now = conditions.expires === null ? FOREVER : conditions.expires - 1;
  return leastPrincipals(conditions.principals).map((principals) => moment(now, conditions.clean, principals));
}

function moment(now: number, clean: boolean, principals: readonly Principal[]): Moment {
  return { now, clean, generation: 0, revoked: null, exhausted: null, principals };
}

/** The number-th combination of one value from each list. */
function pick(lists: readonly (readonly Value[])[], number: number): Value[] {
  let rest = number;
  return lists.map((list) => {
    const value = list[rest % list.length];
    rest = Math.floor(rest / list.length);
    return value;
  });
}

/** Budgets and the validity of links are not part of the order: accounts and chains hold them at every call. */
function covered(parent: Authority, request: Request, at: Moment, purpose: Purpose, level: Level): boolean {
  return parent.some((chain) =>
    chain.every((compiled, place) => linkCovers(chain, compiled, place, request, at, purpose, level)),
  );
}

function linkCovers(
  chain: Chain,
  compiled: CompiledLink,
  place: number,
  request: Request,
  at: Moment,
  purpose: Purpose,
  level: Level,
): boolean {
  const index = compiled.covers(request, at, purposeAt(chain, place, purpose));
  return index >= 0 && (compiled.link.grants[index] as Grant).conditions.ask <= level;
}

function reason(parent: Authority, request: Request, grant: Grant, purpose: Purpose, at: Moment): Because {
  const { expires, ask } = grant.conditions;
  const everyone = namedIn(parent);
  const early = moment(-FOREVER, true, everyone);
  if (!covered(parent, request, early, "use", 2) && !covered(parent, request, early, "pass", 2)) return "request";
  if (!covered(parent, request, early, purpose, 2)) return "pass";
  if (!covered(parent, request, early, purpose, ask)) return "ask";
  const late = expires === null ? FOREVER : expires - 1;
  if (!covered(parent, request, moment(late, true, everyone), purpose, ask)) return "expires";
  return covered(parent, request, { ...at, principals: everyone }, purpose, ask) ? "users" : "clean";
}

/** All principals that a condition of the authority names. */
function namedIn(authority: Authority): readonly Principal[] {
  const named = authority.flatMap((chain) => chain.flatMap(({ link }) => link.grants.map((one) => one.conditions)));
  return [...new Set(named.flatMap(({ principals }) => principals ?? []))];
}
