import { describe, expect, test } from "vitest";
import { ANY, NOTHING, type Scope } from "../axes/scope.ts";
import { type VerbEntry, verbEntry } from "../catalog.ts";
import { compile, type Moment } from "../compiled.ts";
import { type Conditions, type Grant, UNCONDITIONAL } from "../grant.ts";
import { ALWAYS } from "../link.ts";
import { alikeElsewhere } from "./alike.ts";
import { DEEP, literal, ONE, REST, type Segment, segmentOf } from "./segment.ts";
import { segmentsOf } from "./sequence.ts";

const EXEC = verbEntry("proc.exec") as VerbEntry;
const ARGV = EXEC.axes.findIndex(({ kind }) => kind === "argv");
const MOMENT: Moment = { now: 1_000, clean: true, generation: 0, revoked: null, exhausted: null };

function scope(...segments: readonly Segment[]): Scope {
  return { kind: "sequences", of: [segments] };
}

/** A program in a root; each call makes new scopes, as a parser does. */
function program(name: string, root: Scope, conditions: Partial<Conditions> = {}): Grant {
  const scopes = [root, scope(literal(name), REST), ANY];
  return { verb: EXEC, scopes, conditions: { ...UNCONDITIONAL, ...conditions }, root: null, span: null, implied: null };
}

describe("grants that differ on the indexed axis only", () => {
  const srv = (): Scope => scope(literal("srv"), DEEP);
  const rows: readonly (readonly [rule: string, one: Grant, other: Grant, alike: boolean])[] = [
    ["another program in the same root", program("a", srv()), program("b", srv()), true],
    ["another root", program("a", srv()), program("b", scope(literal("srw"), DEEP)), false],
    ["a longer root", program("a", srv()), program("b", scope(literal("srv"), literal("x"), DEEP)), false],
    ["a root with another ending", program("a", srv()), program("b", scope(literal("srv"), ONE)), false],
    ["no limit", program("a", ANY), program("b", { kind: "any" }), true],
    ["no limit, and one", program("a", ANY), program("b", srv()), false],
    ["a limit, and none", program("a", srv()), program("b", ANY), false],
    ["nothing at all", program("a", srv()), program("b", NOTHING), false],
    [
      "a star inside a word is not expanded",
      program("a", scope(segmentOf("x*"))),
      program("b", scope(segmentOf("x*"))),
      false,
    ],
    [
      "a word with a star in it is not a glob",
      program("a", scope(literal("x*"))),
      program("b", scope(segmentOf("x*"))),
      false,
    ],
    ["the level does not matter", program("a", srv(), { ask: 1 }), program("b", srv()), true],
    ["an end", program("a", srv(), { expires: 5 }), program("b", srv()), false],
    ["a clean session", program("a", srv(), { clean: true }), program("b", srv()), false],
    ["handing on", program("a", srv(), { pass: "use" }), program("b", srv()), false],
  ];

  test.each(rows)("%s", (_rule, one, other, alike) => {
    expect(alikeElsewhere(one, other, ARGV)).toBe(alike);
    expect(alikeElsewhere(other, one, ARGV)).toBe(alike);
  });

  test("each is decided by itself, whichever represents it", () => {
    const grants = rows.flatMap(([, one, other], row) => [renamed(one, `a${row}`), renamed(other, `b${row}`)]);
    const link = compile({
      id: "l",
      role: "own",
      issuer: "person",
      holder: "h",
      grants,
      validity: ALWAYS,
      calls: null,
    });
    for (const moment of [
      MOMENT,
      { ...MOMENT, now: 1 },
      { ...MOMENT, clean: false },
      { ...MOMENT, exhausted: () => false },
    ])
      for (const folder of ["srv", "srw", "x*", "xy"])
        for (const [at, grant] of grants.entries()) {
          const name = at % 2 === 0 ? `a${at / 2}` : `b${(at - 1) / 2}`;
          const values = [
            segmentsOf([folder, "deep"].slice(0, folder.startsWith("x") ? 1 : 2)),
            segmentsOf([name, "run"]),
            "ro",
          ];
          const alone = compile({ ...link.link, grants: [grant] });
          const request = { verb: EXEC, values };
          for (const purpose of ["use", "pass"] as const)
            expect(link.covers(request, moment, purpose)).toBe(alone.covers(request, moment, purpose) === 0 ? at : -1);
        }
  });

  test("an empty account disables its own grant and no other", () => {
    const grants = ["a", "b", "c"].map((name) => program(name, srv()));
    const link = compile({
      id: "l",
      role: "own",
      issuer: "person",
      holder: "h",
      grants,
      validity: ALWAYS,
      calls: null,
    });
    const moment: Moment = { ...MOMENT, exhausted: (_link, grant) => grant === 1 };
    const found = ["a", "b", "c"].map((name) =>
      link.covers({ verb: EXEC, values: [segmentsOf(["srv", "x"]), segmentsOf([name]), "ro"] }, moment, "use"),
    );
    expect(found).toEqual([0, -1, 2]);
  });
});

function renamed(grant: Grant, name: string): Grant {
  return { ...grant, scopes: grant.scopes.with(ARGV, scope(literal(name), REST)) };
}
