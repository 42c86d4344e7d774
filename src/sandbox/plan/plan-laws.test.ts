// Laws of planning, over random authorities: a plan is never wider than its chain, and never opens authority files.
import { describe, expect, test } from "vitest";
import { runSeed } from "../../../test/house/seed.ts";
import * as alphabet from "../../../test/laws/alphabet.ts";
import { conditions, grantOf, linkOf, PLAIN_MOMENT, verbOf } from "../../../test/laws/arbitraries.ts";
import { pathPattern } from "../../../test/laws/sequences.ts";
import { chance, oneOf, type Source, seededSource, several } from "../../../test/laws/source.ts";
import { guardPath, tree } from "../../core/authority/axes/path.ts";
import { ANY, type Scope } from "../../core/authority/axes/scope.ts";
import { type Authority, type Chain, chainLevel } from "../../core/authority/chain.ts";
import { compile, grantMatches } from "../../core/authority/compiled.ts";
import { UNCONDITIONAL } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import { within } from "../../core/authority/witness/within.ts";
import type { PlanDecision } from "../../core/gate/programs/program-root.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import type { Plan, PlanPath } from "./plan.ts";
import type { PlanFacts } from "./plan-facts.ts";
import { networkOf } from "./plan-network.ts";
import { isWithin } from "./plan-path.ts";
import { planDecision } from "./plan-root.ts";
import { planOf } from "./planning.ts";
import { bubblewrapCommand } from "./start/bubblewrap.ts";
import { encode, FACTS, SYSTEM } from "./testing/plan.ts";
import { authorityOf, READING } from "./testing/planning.ts";

const [EXEC, WRITE] = [verbOf("proc.exec"), verbOf("fs.write")];
const CASES = 12_000;

function path(source: Source, most = 4): PlanPath {
  return several(source, 1, most, () => oneOf(source, alphabet.PATH_TEXTS));
}

/** Mostly trees, as parsers make them; some patterns that no parser makes. */
function places(source: Source): Scope {
  if (chance(source, 8)) return ANY;
  const one = () => (chance(source, 80) ? tree(path(source, 2)) : pathPattern(source));
  return { kind: "sequences", of: several(source, 1, 3, one) };
}

function chain(source: Source): Chain {
  const held = () => (chance(source, 80) ? UNCONDITIONAL : conditions(source));
  const link = (place: number) =>
    compile(
      linkOf(
        [
          ...several(source, 1, 2, () =>
            grantOf(EXEC, [places(source), ANY, chance(source, 80) ? ANY : { kind: "words", of: ["ro"] }], held()),
          ),
          ...several(source, 1, 3, () => grantOf(WRITE, [places(source)], held())),
        ],
        `link-${place}`,
        place === 0 ? "own" : "limit",
      ),
    );
  return [link(0), ...Array.from({ length: source.below(3) }, (_, at) => link(at + 1))];
}

/** Often near the requested place. */
function near(source: Source, place: PlanPath): PlanPath {
  return chance(source, 50) ? path(source) : [...place.slice(0, source.below(place.length + 1)), ...path(source, 2)];
}

function facts(source: Source, place: PlanPath): PlanFacts {
  return {
    ...FACTS,
    home: chance(source, 80) ? alphabet.PATH_SETTINGS.home : path(source, 3),
    workspaces: several(source, 0, 2, () => near(source, place)),
    ours: several(source, 1, 2, () => near(source, place)),
    program: near(source, place),
    runtime: chance(source, 30) ? [path(source)] : [],
    protectedPaths: alphabet.PROTECTED,
    moment: PLAIN_MOMENT,
  };
}

interface Case {
  readonly decided: PlanDecision;
  readonly facts: PlanFacts;
  readonly plan: Plan;
}

/** Random cases that give a plan with a root. */
function* cases(): Generator<readonly [Source, Case]> {
  for (let seed = runSeed(); seed < runSeed() + CASES; seed++) {
    const source = seededSource(seed);
    const authority: Authority = several(source, 1, 2, () => chain(source)) as Chain[];
    const root = guardPath(path(source), alphabet.PROTECTED);
    const mode = chance(source, 70) ? "rw" : "ro";
    const argv = { segments: ["ls"], guarded: null };
    const request: Request = { verb: EXEC, values: [root, argv, mode] };
    const decided = planDecision(authority, request, judge(authority, request, PLAIN_MOMENT), 2);
    if (decided === null) continue;
    const known = facts(source, root.segments);
    const result = planOf(decided, known);
    if (result.ok && result.plan.root !== null) yield [source, { decided, facts: known, plan: result.plan }];
  }
}

function isMasked(plan: Plan, path: PlanPath): boolean {
  return plan.masked.some((masked) => isWithin(path, masked));
}

describe("for every decision", () => {
  const all = [...cases()];
  const written = all.filter(([, { plan }]) => plan.root?.mode === "draft");

  test("there are plans of both kinds to check", () => {
    expect(written.length).toBeGreaterThan(150);
    expect(all.length - written.length).toBeGreaterThan(150);
  });

  test("the request for the whole root is covered by the same grants", () => {
    for (const [, { decided, plan }] of all) {
      const root = guardPath(plan.root?.path ?? [], alphabet.PROTECTED);
      const values = decided.request.values.map((value, axis) => (axis === 0 ? root : value));
      const links = decided.authority[decided.by.chain] ?? [];
      for (const [place, { link }] of links.entries()) {
        const grant = link.grants[decided.by.grants[place] as number];
        expect(grant !== undefined && grantMatches(grant, values)).toBe(true);
      }
      expect(isWithin(plan.directory, plan.root?.path ?? ["no root"])).toBe(true);
    }
  });

  test("every writable path is one the same chain allows writing", () => {
    let looked = 0;
    for (const [source, { decided, plan }] of written)
      for (let times = 0; times < 20; times++) {
        const below = [
          ...(plan.root?.path ?? []),
          ...several(source, 0, 4, () => oneOf(source, [...alphabet.PATH_TEXTS, "odd", "*"])),
        ];
        if (isMasked(plan, below)) continue;
        const value = guardPath(below, alphabet.PROTECTED);
        const level = chainLevel(
          decided.authority[decided.by.chain] as Chain,
          { verb: WRITE, values: [value] },
          PLAIN_MOMENT,
          "use",
        );
        expect({ below, isCovered: level >= 0 && level <= decided.level }).toEqual({ below, isCovered: true });
        looked++;
      }
    expect(looked).toBeGreaterThan(2_000);
  });

  test("our own files are hidden, and our program is never in a writable root", () => {
    let masked = 0;
    for (const [, { facts: known, plan }] of all) {
      const root = plan.root?.path ?? [];
      for (const own of known.ours) {
        expect(isWithin(root, own)).toBe(false);
        if (!isWithin(own, root)) continue;
        expect(isMasked(plan, own)).toBe(true);
        masked++;
      }
      for (const runtime of plan.runtime)
        for (const own of known.ours) expect(isWithin(own, runtime) || isWithin(runtime, own)).toBe(false);
      if (plan.root?.mode !== "ro") expect(isWithin(root, known.program)).toBe(false);
    }
    expect(masked).toBeGreaterThan(20);
  });

  test("no root is ever written directly", () => {
    for (const [, { plan }] of all) expect(plan.root?.mode).not.toBe("direct");
  });

  test("nothing is mounted below a root, and never the root of the machine", () => {
    for (const [, { plan }] of all.slice(0, 500)) {
      const { argv } = bubblewrapCommand(plan, SYSTEM, encode, plan.root?.mode === "draft" ? "/state/d" : null);
      const root = plan.root?.path ?? [];
      const places = argv.filter((word) => word.startsWith("/")).map((word) => word.split("/").slice(1));
      const inside = places.filter((place) => place.length > root.length && isWithin(place, root));
      expect(inside).toEqual([]);
    }
  });
});

describe("the network as text", () => {
  const NETWORKS: readonly (readonly (readonly string[])[])[] = [
    [["net.connect{hosts=[a.com],ports=[443]}"]],
    [["net.connect{hosts=[*.a.com,+.b.org],ports=[1-65535],raw}", "net.connect{hosts=[10.0.0.0/8],ports=[22]}"]],
    [
      ["net.connect{hosts=[db.internal],ports=[5432],private=[db.internal=10.1.0.0/16]}"],
      ["net.connect{hosts=[*],ports=[*]}"],
    ],
    [["net.connect{hosts=[a.com],ports=[443],ask,expires=2999-01-01T00:00:00Z,clean}"]],
    [["net.connect{hosts=[2001:db8::/32,1.2.3.4],ports=[80,8000-8080]}"]],
  ];

  test.each(NETWORKS)("parses back as the same authority: %j", (...links) => {
    const authority = authorityOf([links]);
    const network = networkOf(authority, PLAIN_MOMENT);
    expect(network?.chains).toHaveLength(1);
    for (const [place, texts] of (network?.chains[0] ?? []).entries()) {
      const read = texts.map((text) => {
        const span = { source: "plan", start: 0, end: 0 };
        const grant = readCompact(text, { reading: READING, diagnostics: new Diagnostics(), span, root: null });
        if (grant === null) throw new Error(text);
        return grant;
      });
      const written = authority[0]?.[place]?.link.grants ?? [];
      const options = { protectedPaths: [], delegating: false };
      const single = (grants: typeof read): Authority => [[compile(linkOf(grants))]];
      expect(within(read, single([...written]), options).kind).toBe("within");
      expect(within(written, single(read), options).kind).toBe("within");
    }
  });
});
