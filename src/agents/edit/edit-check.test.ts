// The proof of an edit detects every edit that does more, less or something else.
import { describe, expect, test } from "vitest";
import { EDIT_CONTEXT } from "../../../test/edits/edit.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { checkEdit } from "./edit-check.ts";
import { readRevokeSpec } from "./edit-spec.ts";

const context = { reading: EDIT_CONTEXT.reading, root: ["work"] };
const { protectedPaths } = EDIT_CONTEXT.reading.pathSettings;

function grantsOf(specs: readonly string[]): readonly Grant[] {
  return specs.map((spec) => {
    const span = { source: "", start: 0, end: spec.length };
    const grant = readCompact(spec, { ...context, diagnostics: new Diagnostics(), span });
    if (grant === null) throw new Error(spec);
    return grant;
  });
}

type Row = readonly [title: string, before: readonly string[], edit: string, after: readonly string[], holds: boolean];

const A = "net.get{hosts=[a.example]}";
const B = "net.get{hosts=[b.example]}";
const AB = "net.get{hosts=[a.example,b.example]}";

describe("a grant", () => {
  const rows: readonly Row[] = [
    ["adds what it says", [A], B, [A, B], true],
    ["may be written in any order, or together", [A], B, [AB], true],
    ["is missing afterwards", [A], B, [A], false],
    ["adds more than it says", [A], B, [A, "net.get{hosts=[*.b.example]}"], false],
    ["adds something of another verb", [A], B, [A, B, "obs.query"], false],
    ["removes something", [A, "obs.query"], B, [A, B], false],
    ["loses a condition of another grant", ["obs.query{ask}"], B, ["obs.query", B], false],
    ["loses a budget of another grant", ["obs.query{calls=5}"], B, ["obs.query", B], false],
    [
      "moves a date of another grant",
      ["obs.query{expires=2030-01-01T00:00:00Z}"],
      B,
      ["obs.query{expires=2030-01-02T00:00:00Z}", B],
      false,
    ],
  ];
  for (const [title, before, spec, after, holds] of rows) {
    test(`${title}: ${holds ? "holds" : "caught"}`, () => {
      const [grant] = grantsOf([spec]);
      const problem = checkEdit(
        grantsOf(before),
        grantsOf(after),
        { kind: "grant", grant: grant as Grant },
        protectedPaths,
      );
      expect(problem === null).toBe(holds);
    });
  }
});

describe("a revocation", () => {
  const rows: readonly Row[] = [
    ["of a verb removes all of it", [AB, "obs.query"], "net.get", ["obs.query"], true],
    ["of a verb may leave an empty grant", [AB, "obs.query"], "net.get", ["obs.query", "net.get{hosts=[]}"], true],
    ["of a verb leaves some of it", [AB, "obs.query"], "net.get", [A, "obs.query"], false],
    ["of a verb removes another one, too", [AB, "obs.query"], "net.get", [], false],
    ["of a part removes that part", [AB], A, [B], true],
    ["of a part removes more than it", [AB, "net.get{hosts=[c.example]}"], A, [B], false],
    [
      "of a part leaves some of it",
      ["net.get{hosts=[*.x.example]}"],
      "net.get{hosts=[a.x.example]}",
      ["net.get{hosts=[*.x.example]}"],
      false,
    ],
    [
      "of a part removes all although only some was meant",
      ["net.get{hosts=[*.x.example]}"],
      "net.get{hosts=[a.x.example]}",
      [],
      false,
    ],
    ["of a part widens the rest", [AB], A, ["net.get{hosts=[*.b.example]}"], false],
    [
      "of grants with approval leaves those without",
      ["obs.query{ask}", "obs.query"],
      "obs.query{ask}",
      ["obs.query"],
      true,
    ],
    ["of grants with approval removes those without", ["obs.query{ask}", "obs.query"], "obs.query{ask}", [], false],
  ];
  for (const [title, before, spec, after, holds] of rows) {
    test(`${title}: ${holds ? "holds" : "caught"}`, () => {
      const held = grantsOf(before);
      const edit = readRevokeSpec(spec, context, held);
      if (!edit.ok) throw new Error(edit.message);
      expect(checkEdit(held, grantsOf(after), edit.value, protectedPaths) === null).toBe(holds);
    });
  }
});
