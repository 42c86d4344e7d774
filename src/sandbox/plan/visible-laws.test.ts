// Laws of visible files, over random chains: a program sees a path exactly where every link covers reading it.
import { expect, test } from "vitest";
import { runSeed } from "../../../test/house/seed.ts";
import * as alphabet from "../../../test/laws/alphabet.ts";
import { conditions, grantOf, linkOf, PLAIN_MOMENT, verbOf } from "../../../test/laws/arbitraries.ts";
import { pathPattern } from "../../../test/laws/sequences.ts";
import { chance, oneOf, type Source, seededSource, several } from "../../../test/laws/source.ts";
import { guardPath, tree } from "../../core/authority/axes/path.ts";
import { ANY, type Scope } from "../../core/authority/axes/scope.ts";
import { type Chain, chainLevel } from "../../core/authority/chain.ts";
import { compile } from "../../core/authority/compiled.ts";
import { countedIsSpent } from "../../core/authority/counted.ts";
import { UNCONDITIONAL } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import { literal } from "../../core/authority/patterns/segment.ts";
import { isInside } from "../../core/authority/patterns/tree-patterns.ts";
import type { Request } from "../../core/authority/request.ts";
import { visibleFiles } from "../../core/gate/programs/visible-files.ts";
import type { PlanPath } from "./plan.ts";
import { planDecision } from "./plan-root.ts";
import { FACTS } from "./testing/plan.ts";

const [EXEC, READ] = [verbOf("proc.exec"), verbOf("fs.read")];
const CASES = 4_000;
const ROOT: PlanPath = ["a"];
const FACTS_HERE = { ...FACTS, protectedPaths: alphabet.PROTECTED, moment: PLAIN_MOMENT };

function below(source: Source, least: number, most: number): PlanPath {
  return [...ROOT, ...several(source, least, most, () => oneOf(source, alphabet.PATH_TEXTS))];
}

function paths(source: Source): Scope {
  if (chance(source, 5)) return ANY;
  const one = () => {
    if (chance(source, 10)) return pathPattern(source);
    return chance(source, 65) ? tree(below(source, 0, 2)) : below(source, 1, 2).map(literal);
  };
  return { kind: "sequences", of: several(source, 0, 3, one) };
}

function chain(source: Source): Chain {
  const link = (place: number) =>
    compile(
      linkOf(
        [
          grantOf(EXEC, [{ kind: "sequences", of: [tree(ROOT)] }, ANY, ANY], UNCONDITIONAL),
          ...several(source, place === 0 ? 1 : 0, 2, () =>
            grantOf(READ, [paths(source)], chance(source, 80) ? UNCONDITIONAL : conditions(source)),
          ),
        ],
        `link-${place}`,
        place === 0 ? "own" : "limit",
      ),
    );
  return [link(0), ...Array.from({ length: source.below(3) }, (_, at) => link(at + 1))];
}

test("an unprotected path is visible exactly if the chain covers reading it without approval", {
  timeout: 60_000,
}, () => {
  const seen = { visible: 0, hidden: 0, refused: 0 };
  for (let seed = runSeed(); seed < runSeed() + CASES; seed++) {
    const source = seededSource(seed);
    const one = chain(source);
    const request: Request = {
      verb: EXEC,
      values: [guardPath(ROOT, alphabet.PROTECTED), { segments: ["ls"], guarded: null }, "ro"],
    };
    const decided = planDecision([one], request, judge([one], request, PLAIN_MOMENT), 0);
    if (decided === null) throw new Error("undecided");
    const visible = visibleFiles(decided, ROOT, FACTS_HERE);
    if (!visible.ok) {
      seen.refused++;
      continue;
    }
    for (let times = 0; times < 20; times++) {
      const path = below(source, 1, 4);
      const value = guardPath(path, alphabet.PROTECTED);
      if (value.guarded !== null) continue;
      const moment = { ...PLAIN_MOMENT, exhausted: countedIsSpent([one]) };
      const isCovered = chainLevel(one, { verb: READ, values: [value] }, moment, "use") === 0;
      const isVisible = visible.value === null || isInside(path, visible.value);
      expect({ seed, path, isVisible }).toEqual({ seed, path, isVisible: isCovered });
      seen[isVisible ? "visible" : "hidden"]++;
    }
  }
  expect(Math.min(seen.visible, seen.hidden)).toBeGreaterThan(2_000);
  expect(seen.refused).toBeGreaterThan(50);
});
