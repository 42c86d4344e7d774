// Laws 1 to 4: `within` is an order up to equivalence, join and meet are its least upper and greatest lower bounds.
import { describe, expect, test, vi } from "vitest";
import type { Grant } from "../../src/core/authority/grant.ts";
import { grant, grants, moment, VERBS } from "./arbitraries.ts";
import { CORE, type Implementation, single } from "./implementation.ts";
import { casesReached, casesWanted, caught, findViolation, LAW_TIMEOUT, type Law, printValue, shrunk } from "./law.ts";
import { anyOfMeet, dropsLast, firstOnly, meetOfOneAxis, pairwiseMeet } from "./mutants.ts";
import { naiveLevel } from "./naive.ts";
import { requestNear } from "./requests.ts";
import { chance, oneOf, type Source } from "./source.ts";
import { widenGrant } from "./widen.ts";

vi.setConfig({ testTimeout: LAW_TIMEOUT });

type List = readonly Grant[];

function texts(...lists: readonly List[]): string {
  return lists
    .map((list) => printValue(list.map(({ verb, scopes, conditions }) => [verb.verb, scopes, conditions])))
    .join("\n");
}

const exceeds = (core: Implementation, child: List, parent: List): boolean =>
  core.within(child, single(parent), false).kind === "exceeds";
const isWithin = (core: Implementation, child: List, parent: List): boolean =>
  core.within(child, single(parent), false).kind === "within";

function one(source: Source): List {
  const verb = oneOf(source, VERBS);
  return grants(source, verb, 1, 2);
}

function like(source: Source, list: List): List {
  const verb = (list[0] as Grant).verb;
  return chance(source, 50) ? list.map((each) => widenGrant(source, each)) : grants(source, verb, 1, 2);
}

const reflexive: Law = (core, source) => {
  const list = one(source);
  return exceeds(core, list, list) ? texts(list) : null;
};

const transitive: Law = (core, source) => {
  const low = one(source);
  const middle = [...low.map((each) => widenGrant(source, each)), ...(chance(source, 50) ? like(source, low) : [])];
  const high = [...middle.map((each) => widenGrant(source, each)), ...(chance(source, 50) ? like(source, low) : [])];
  if (!isWithin(core, low, middle) || !isWithin(core, middle, high)) return null;
  return exceeds(core, low, high) ? texts(low, middle, high) : null;
};

/** Equivalent lists decide alike: on sampled requests, by the reference. */
const equivalence: Law = (core, source) => {
  const left = one(source);
  const right = like(source, left);
  if (!isWithin(core, left, right) || !isWithin(core, right, left)) return null;
  for (let count = 0; count < 4; count++) {
    const request = requestNear(source, (left[0] as Grant).verb, [...left, ...right]);
    const at = moment(source);
    const purpose = oneOf(source, ["use", "pass"] as const);
    if (naiveLevel(left, request, at, purpose) !== naiveLevel(right, request, at, purpose))
      return `${texts(left, right)}\n${printValue(request)}`;
  }
  return null;
};

/** `within` does not tell the two lists apart; if it cannot prove that, it does not prove the opposite either. */
function equal(core: Implementation, left: List, right: List): boolean {
  return !exceeds(core, left, right) && !exceeds(core, right, left);
}

const join = (left: List, right: List): List => [...left, ...right];

const joinLaws: Law = (core, source) => {
  const a = one(source);
  const b = like(source, a);
  const c = like(source, a);
  if (!equal(core, join(a, a), a)) return `idempotent\n${texts(a)}`;
  if (!equal(core, join(a, b), join(b, a))) return `commutative\n${texts(a, b)}`;
  if (!equal(core, join(join(a, b), c), join(a, join(b, c)))) return `associative\n${texts(a, b, c)}`;
  return null;
};

/** A meet that had to leave something out is narrower, so only one side of a law about it can hold. */
const meetLaws: Law = (core, source) => {
  const a = one(source);
  const b = like(source, a);
  const both = core.meet(a, b);
  const turned = core.meet(b, a);
  const self = core.meet(a, a);
  if (self.complete && !equal(core, self.grants, a)) return `idempotent\n${texts(a)}`;
  if (both.complete && turned.complete && !equal(core, both.grants, turned.grants))
    return `commutative\n${texts(a, b)}`;
  const absorbed = core.meet(a, join(a, b));
  if (absorbed.complete && !equal(core, absorbed.grants, a)) return `meet absorbs join\n${texts(a, b)}`;
  if (!equal(core, join(a, both.grants), a)) return `join absorbs meet\n${texts(a, b)}`;
  return null;
};

const threeWayLaws: Law = (core, source) => {
  const verb = oneOf(source, VERBS);
  const [a, b, c] = [0, 1, 2].map(() => [grant(source, verb)]) as unknown as [List, List, List];
  const right = core.meet(b, c);
  const left = core.meet(a, b);
  const first = core.meet(left.grants, c);
  const second = core.meet(a, right.grants);
  const complete = [right, left, first, second].every((meet) => meet.complete);
  if (complete && !equal(core, first.grants, second.grants)) return `associative\n${texts(a, b, c)}`;
  const spread = core.meet(a, join(b, c));
  const gathered = join(left.grants, core.meet(a, c).grants);
  if (spread.complete && left.complete && !equal(core, spread.grants, gathered))
    return `meet over join\n${texts(a, b, c)}`;
  return null;
};

const meetIsLower: Law = (core, source) => {
  const a = one(source);
  const b = like(source, a);
  const { grants: met } = core.meet(a, b);
  if (exceeds(core, met, a)) return `not within the left\n${texts(a, b, met)}`;
  return exceeds(core, met, b) ? `not within the right\n${texts(a, b, met)}` : null;
};

const meetIsGreatest: Law = (core, source) => {
  const c = one(source);
  const a = c.map((each) => widenGrant(source, each));
  const b = c.map((each) => widenGrant(source, each));
  if (!isWithin(core, c, a) || !isWithin(core, c, b)) return null;
  const met = core.meet(a, b);
  return met.complete && exceeds(core, c, met.grants) ? texts(c, a, b, met.grants) : null;
};

const joinIsLeastUpper: Law = (core, source) => {
  const a = one(source);
  const b = like(source, a);
  if (exceeds(core, a, join(a, b)) || exceeds(core, b, join(a, b))) return `not an upper bound\n${texts(a, b)}`;
  const c = join(a, b).map((each) => widenGrant(source, each));
  if (!isWithin(core, a, c) || !isWithin(core, b, c)) return null;
  return exceeds(core, join(a, b), c) ? `not the least\n${texts(a, b, c)}` : null;
};

const LAWS: readonly (readonly [string, Law, number])[] = [
  ["law 1: within is reflexive", reflexive, 1200],
  ["law 1: within is transitive", transitive, 1500],
  ["law 1: what is within both ways decides alike", equivalence, 1200],
  ["law 2: join is idempotent, commutative and associative", joinLaws, 500],
  ["law 2: meet is idempotent and commutative, and the two absorb each other", meetLaws, 700],
  ["law 2: meet is associative and distributes over join", threeWayLaws, 900],
  ["law 3: the meet is within both", meetIsLower, 900],
  ["law 3: what is within both is within the meet", meetIsGreatest, 900],
  ["law 4: a list is within its join, and the join within every other upper bound", joinIsLeastUpper, 700],
];

describe("the order of authority", () => {
  test.each(LAWS)("%s", (_title, law, count) => {
    expect(findViolation(law, CORE, count)).toBeNull();
    expect(shrunk(law, CORE, 60)).toBeNull();
  });

  test.each([
    ["a meet that keeps the weaker condition is not within both", meetIsLower, anyOfMeet],
    ["a meet that leaves out an axis is not within both", meetIsLower, meetOfOneAxis],
    ["a meet of equal positions is not the greatest lower bound", threeWayLaws, pairwiseMeet],
    ["a containment that misses a grant of the parent is not reflexive", reflexive, dropsLast],
    ["a containment that checks one grant of the child is not transitive", transitive, firstOnly],
  ] as const)("mutant: %s", (_title, law, mutant) => {
    expect(caught(law, mutant, 20_000)).toBe(true);
  });

  test("the cases were run", () => {
    expect(casesReached()).toBeGreaterThanOrEqual(casesWanted("order"));
  });
});
