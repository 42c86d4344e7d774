// For every random record and edit: authority afterwards is authority before with exactly the edit, decided request by request
// and not by the proof the edit itself made; and text outside the grants is unchanged.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type EditResult, editRecord } from "../../src/agents/edit/edit.ts";
import { readGrantSpec } from "../../src/agents/edit/edit-spec.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { readRecord } from "../../src/core/notation/record/record.ts";
import { sizeFor } from "../house/long.ts";
import { EDIT_CONTEXT, grant, revoke } from "./edit.ts";
import { type RandomRecord, record, spec } from "./records.ts";
import { answers } from "./requests.ts";

const runs = sizeFor(400, 10_000);

type Edited = Extract<EditResult, { kind: "edited" }>;

function grantsOf(text: string): readonly Grant[] {
  const { tree, diagnostics } = EDIT_CONTEXT.read({ name: "a.md", text });
  expect(diagnostics).toEqual([]);
  if (tree === null) throw new Error("no tree");
  return readRecord(tree, EDIT_CONTEXT.reading).grants;
}

function untouched({ text, foreign }: RandomRecord, edited: Edited): void {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const old = new Set(text.split(end));
  // Every marked line is there as it was, and in the same order.
  const marked = (whole: string): string[] => whole.split(end).filter((line) => line.includes("# keep "));
  expect(marked(edited.text)).toEqual(marked(text));
  expect(marked(text).length).toBeGreaterThanOrEqual(foreign.length);
  const body = (whole: string): string => whole.slice(whole.indexOf(`${end}---${end}`));
  expect(body(edited.text)).toBe(body(text));
  expect(edited.text.startsWith(text.slice(0, text.indexOf("title0")))).toBe(true);
  // Every new line is about authority: nothing else is ever written.
  for (const line of edited.text.split(end))
    if (!old.has(line))
      expect(line).toMatch(
        /capabilities|extends|^\s*(- |\]|\[|['"])|hosts|ports|paths|classes|keys|tools|cmds|patterns/,
      );
  expect(/(^|[^\r])\n/.test(edited.text)).toBe(/(^|[^\r])\n/.test(text));
}

/** Refusals that say "this cannot be expressed". Any other is a mistake of ours. */
const honest = /cannot express|budget|policy|already in the spec|grant nothing|does not name anything|not a grant/;

describe("authority after = authority before ± exactly the edit", () => {
  test("grant", () => {
    let edited = 0;
    fc.assert(
      fc.property(record, spec, (before, wanted) => {
        const result = grant(before.text, wanted);
        if (result.kind === "refused") expect(result.message).toMatch(honest);
        if (result.kind !== "edited") return;
        edited++;
        const held = grantsOf(before.text);
        const now = grantsOf(result.text);
        const added = result.edit.kind === "grant" ? result.edit.grant : null;
        if (added === null) throw new Error("another edit");
        // The built-in tools come with the first grant of a record that had none.
        const compared = held.length === 0 ? now.filter((one) => one.implied !== "default") : now;
        expect(answers(compared)).toEqual(answers([...held, added]));
        untouched(before, result);
        expect(grant(result.text, wanted).kind).toBe("unchanged");
      }),
      { numRuns: runs },
    );
    expect(edited).toBeGreaterThan(runs / 3);
  });

  test("revoke with a scope, and without", () => {
    let edited = 0;
    const pick = fc.tuple(record, spec, fc.nat(), fc.constantFrom("own", "other", "verb", "own verb"));
    fc.assert(
      fc.property(pick, ([before, other, index, which]) => {
        const own = before.specs[index % Math.max(1, before.specs.length)] ?? other;
        const chosen = which.startsWith("own") ? own : other;
        const wanted = which.endsWith("verb") ? (/^[a-z.]+/.exec(chosen)?.[0] ?? "") : chosen;
        const result = revoke(before.text, wanted);
        if (result.kind === "refused") expect(result.message).toMatch(honest);
        if (result.kind !== "edited" || result.edit.kind !== "revoke") return;
        edited++;
        const { verb, part } = result.edit;
        const held = grantsOf(before.text);
        const now = grantsOf(result.text);
        const keptTools = now.length === 0 ? held.filter((one) => one.implied !== "default") : held;
        const taken = (one: Grant): boolean =>
          one.verb === verb &&
          (part === null ||
            part.conditions === null ||
            JSON.stringify(part.conditions) === JSON.stringify(one.conditions));
        const stays = answers(keptTools.filter((one) => !taken(one)));
        const goes = answers(keptTools.filter(taken));
        const cut = part === null ? goes.map(() => 0) : answers([{ ...part.grant, conditions: NONE }]);
        const expected = goes.map((level, at) => {
          const left = (cut[at] as number) >= 0 ? -1 : level;
          const stay = stays[at] as number;
          return left < 0 ? stay : stay < 0 ? left : Math.min(left, stay);
        });
        expect(answers(now)).toEqual(expected);
        untouched(before, result);
        expect(revoke(result.text, wanted).kind).toBe("unchanged");
      }),
      { numRuns: runs },
    );
    expect(edited).toBeGreaterThan(runs / 4);
  });

  test("a grant and its revocation add no authority", () => {
    let edited = 0;
    fc.assert(
      fc.property(record, spec, (before, wanted) => {
        const granted = grant(before.text, wanted);
        if (granted.kind !== "edited") return;
        const held = answers(grantsOf(before.text));
        const back = revoke(granted.text, wanted);
        if (back.kind !== "edited") return;
        edited++;
        const now = answers(grantsOf(back.text));
        // What was held before in part is removed with it; nothing is ever left behind.
        now.forEach((level, at) => {
          if (level >= 0) expect(held[at]).toBeGreaterThanOrEqual(0);
        });
      }),
      { numRuns: runs },
    );
    expect(edited).toBeGreaterThan(runs / 4);
  });
});

const NONE = {
  ask: 0,
  calls: null,
  rate: null,
  tokens: null,
  money: null,
  per: null,
  expires: null,
  principals: null,
  pass: "both",
  clean: false,
} as const;

test("--for and --uses become conditions of the written grant", () => {
  const limits = { expires: 4102444800000, calls: 5 };
  const text = "---\ncapabilities: []\n---\n";
  const result = editRecord({ name: "a.md", text }, { kind: "grant", spec: "records.read", limits }, EDIT_CONTEXT);
  expect(result).toMatchObject({
    kind: "edited",
    text: '---\ncapabilities: ["records.read{calls=5,expires=2100-01-01T00:00:00Z}"]\n---\n',
  });
  const twice = readGrantSpec("records.read{calls=1}", limits, { reading: EDIT_CONTEXT.reading, root: null });
  expect(twice).toMatchObject({ ok: false, message: expect.stringContaining("calls") });
});
