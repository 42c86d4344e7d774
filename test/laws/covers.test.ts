// Laws 5, 8 and 10: covering is monotone, a join covers what either covers, and the index decides as a plain loop does.
import { describe, expect, test, vi } from "vitest";
import type { Constraint } from "../../src/core/authority/axes/constraint.ts";
import type { PathSettings } from "../../src/core/authority/axes/path.ts";
import { ANY } from "../../src/core/authority/axes/scope.ts";
import type { VerbEntry } from "../../src/core/authority/catalog.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { ALWAYS } from "../../src/core/authority/link.ts";
import { literal } from "../../src/core/authority/patterns/segment.ts";
import { OTHER_GROUND, PATH_SETTINGS } from "./alphabet.ts";
import { grant, grantOf, grants, linkOf, moment, PLAIN_MOMENT, VERBS, verbOf } from "./arbitraries.ts";
import { CORE, single } from "./implementation.ts";
import { casesReached, casesWanted, caught, findViolation, LAW_TIMEOUT, type Law, printValue, shrunk } from "./law.ts";
import {
  apexExcluded,
  containsOneAxis,
  firstCovers,
  ignoresSecondAxis,
  indexWithoutAlways,
  merges,
  starTakesGuarded,
} from "./mutants.ts";
import { naiveLevel } from "./naive.ts";
import { requestNear } from "./requests.ts";
import { pathPattern } from "./sequences.ts";
import { oneOf, type Source, several } from "./source.ts";
import { widenGrant } from "./widen.ts";

vi.setConfig({ testTimeout: LAW_TIMEOUT });

const PURPOSES = ["use", "pass"] as const;

/** One link against the reference, for the given verbs. */
function agrees(verbs: readonly string[] | null, most: number): Law {
  return (core, source) => {
    const verb = verbs === null ? oneOf(source, VERBS) : verbOf(oneOf(source, verbs));
    const list = grants(source, verb, 1, most);
    const request = requestNear(source, verb, list);
    const at = moment(source);
    const purpose = oneOf(source, PURPOSES);
    const level = core.level(single(list), request, at, purpose);
    const expected = naiveLevel(list, request, at, purpose);
    return level === expected
      ? null
      : `${level} instead of ${expected}\n${printValue(list.map(({ scopes, conditions }) => [scopes, conditions]))}\n${printValue(request)}`;
  };
}

const monotone =
  (verbs: readonly VerbEntry[]): Law =>
  (core, source) => {
    const verb = oneOf(source, verbs);
    const low = grants(source, verb, 1, 2);
    const high = [...low.map((each) => widenGrant(source, each)), ...grants(source, verb, 0, 1)];
    if (core.within(low, single(high), false).kind !== "within") return null;
    for (let count = 0; count < 3; count++) {
      const request = requestNear(source, verb, low);
      const at = moment(source);
      const purpose = oneOf(source, PURPOSES);
      const below = naiveLevel(low, request, at, purpose);
      const above = naiveLevel(high, request, at, purpose);
      if (below !== null && (above === null || above > below))
        return `${below} below, ${above} above\n${printValue([low, high].map((list) => list.map(({ scopes }) => scopes)))}\n${printValue(request)}`;
    }
    return null;
  };

/** A path argument may be relative, and then it depends on its folder. */
const monotoneOverGrounds: Law = (core, source) => {
  const verb = verbOf("tool.invoke");
  const patterns = several(source, 1, 2, () => [literal(oneOf(source, ["a", "b"])), ...pathPattern(source)]);
  const made = (pathSettings: PathSettings): Grant => {
    const constraint: Constraint = { kind: "path", patterns, pathSettings };
    return grantOf(verb, [ANY, { kind: "arguments", constrained: [{ at: ["a"], constraint }], only: false }]);
  };
  const low = [made(oneOf(source, [PATH_SETTINGS, OTHER_GROUND]))];
  const high = [made(oneOf(source, [PATH_SETTINGS, OTHER_GROUND]))];
  if (core.within(low, single(high), false).kind !== "within") return null;
  const request = requestNear(source, verb, low);
  const levels = [low, high].map((list) => naiveLevel(list, request, PLAIN_MOMENT, "use"));
  return levels[0] !== null && levels[1] === null ? printValue([low, high, request]) : null;
};

const joinCovers: Law = (core, source) => {
  const verb = oneOf(source, VERBS);
  const left = grants(source, verb, 1, 2);
  const right = grants(source, verb, 1, 2);
  const request = requestNear(source, verb, [...left, ...right]);
  const at = moment(source);
  const levels = [left, right]
    .map((list) => core.level(single(list), request, at, "use"))
    .filter((level) => level !== null);
  const joined = core.level(single([...left, ...right]), request, at, "use");
  return joined === (levels.length === 0 ? null : Math.min(...levels)) ? null : printValue([left, right, request]);
};

/** Enough grants for an index; their order must not affect the outcome. */
const indexed: Law = (core, source) => {
  const verb = oneOf(
    source,
    VERBS.filter(({ axes }) => axes.length > 0),
  );
  const list = several(source, 16, 40, () => grant(source, verb));
  const request = requestNear(source, verb, list);
  const at = moment(source);
  const purpose = oneOf(source, PURPOSES);
  const expected = naiveLevel(list, request, at, purpose);
  for (const order of [list, [...list].reverse(), shuffled(source, list)]) {
    const level = core.level([[linkOf(order, "link", "own", ALWAYS)]], request, at, purpose);
    if (level !== expected)
      return `${level} instead of ${expected}\n${printValue(request)}\n${printValue(order.map(({ scopes }) => scopes))}`;
  }
  return null;
};

function shuffled<T>(source: Source, list: readonly T[]): readonly T[] {
  const left = [...list];
  return list.map(() => left.splice(source.below(left.length), 1)[0] as T);
}

describe("what a link covers", () => {
  test.each([
    ["every verb, in a link of few grants", agrees(null, 3), 14_000],
    ["paths with protected folders", agrees(["fs.read", "fs.delete"], 3), 3_000],
    ["hosts, addresses and ports", agrees(["net.get", "net.connect"], 3), 4_000],
    ["commands with risky options", agrees(["proc.exec"], 3), 4_000],
    ["constrained arguments", agrees(["tool.invoke"], 2), 4_000],
  ])("law 10: the core decides as the reference does: %s", (_title, law, count) => {
    expect(findViolation(law, CORE, count)).toBeNull();
    expect(shrunk(law, CORE)).toBeNull();
  });

  test.each([
    ["law 5: what is within covers no more", monotone(VERBS), 2_500],
    ["law 5: nor with constrained arguments", monotone([verbOf("tool.invoke")]), 2_500],
    ["law 5: nor with paths relative to different folders", monotoneOverGrounds, 800],
    ["law 8: a join covers what either of its halves covers, at the lower level", joinCovers, 1_500],
    ["law 10: with an index the outcome is that of a plain loop, in any order of the grants", indexed, 1_200],
  ])("%s", (_title, law, count) => {
    expect(findViolation(law, CORE, count)).toBeNull();
    expect(shrunk(law, CORE, 60)).toBeNull();
  });

  test.each([
    ["a star that matches protected paths and risky options", agrees(null, 3), starTakesGuarded],
    ["a grant whose second axis is ignored", agrees(null, 3), ignoresSecondAxis],
    ["a `*.x` without x", agrees(["net.get"], 3), apexExcluded],
    ["grants that cross-multiply", agrees(null, 3), merges],
    ["a level taken from the first grant that covers", agrees(null, 3), firstCovers],
    ["an index that omits the grants without a limit", indexed, indexWithoutAlways],
    ["a containment of one axis", monotone(VERBS), containsOneAxis],
  ] as const)("mutant: %s is caught", (_title, law, mutant) => {
    expect(caught(law, mutant, 40_000)).toBe(true);
  });

  test("the cases were run", () => {
    expect(casesReached()).toBeGreaterThanOrEqual(casesWanted("covers"));
  });
});
