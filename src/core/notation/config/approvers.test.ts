// Required approvers: what parses, what is refused with a position, and which of two is the stricter.
import { describe, expect, test } from "vitest";
import type { Json } from "../../base/json.ts";
import { Diagnostics } from "../diagnostic.ts";
import { readRecord } from "../record/record.ts";
import { mapOf, READING, treeOf } from "../testing/notation.ts";
import {
  type Approvers,
  type ApproversReading,
  approversWithin,
  isPersonName,
  readApprovers,
  stricterApprovers,
} from "./approvers.ts";

function read(value: Json): { readonly reading: ApproversReading; readonly told: readonly string[] } {
  const diagnostics = new Diagnostics();
  const reading = readApprovers(mapOf({ approvers: value }), diagnostics);
  return { reading, told: diagnostics.list.map(({ severity, code, span }) => `${severity} ${code} ${span.source}`) };
}

describe("approvers", () => {
  const good: readonly (readonly [Json, Approvers])[] = [
    [1, { need: 1, of: null }],
    [2, { need: 2, of: null }],
    [10, { need: 10, of: null }],
    [{ need: 3 }, { need: 3, of: null }],
    [
      { need: 2, of: ["ann", "bob", "eve"] },
      { need: 2, of: ["ann", "bob", "eve"] },
    ],
    [
      { need: 2, of: ["ann", "bob"] },
      { need: 2, of: ["ann", "bob"] },
    ],
  ];
  for (const [value, approvers] of good)
    test(JSON.stringify(value), () => expect(read(value)).toEqual({ reading: approvers, told: [] }));

  const bad: readonly (readonly [Json, string])[] = [
    [0, "error bad_value approvers"],
    [11, "error bad_value approvers"],
    [1.5, "error bad_value approvers"],
    [-1, "error bad_value approvers"],
    [null, "error wrong_type approvers"],
    ["2", "error wrong_type approvers"],
    [true, "error wrong_type approvers"],
    [["ann", "bob"], "error wrong_type approvers"],
    [{}, "error missing_field approvers"],
    [{ of: ["ann"] }, "error missing_field approvers"],
    [{ need: "2" }, "error wrong_type approvers.need"],
    [{ need: [2] }, "error wrong_type approvers.need"],
    [{ need: 0, of: ["ann"] }, "error bad_value approvers.need"],
    [{ need: 3, of: ["ann", "bob"] }, "error bad_value approvers"],
    [{ need: 1, of: [] }, "error bad_value approvers"],
    [{ need: 1, of: "ann" }, "error wrong_type approvers.of"],
    [{ need: 1, of: [7] }, "error wrong_type approvers.of[0]"],
    [{ need: 2, of: ["ann", "ann"] }, "error bad_value approvers.of[1]"],
    [{ need: 1, of: ["an n"] }, "error bad_value approvers.of[0]"],
    [{ need: 1, of: ["ann", "аnn"] }, "error bad_value approvers.of[1]"],
    [{ need: 1, of: ["ann"], form: 1 }, "error unknown_key approvers.form:"],
    [{ need: 1, of: Array.from({ length: 101 }, (_, at) => `p${at}`) }, "error too_large approvers.of"],
  ];
  for (const [value, told] of bad)
    test(`${JSON.stringify(value).slice(0, 60)} is refused`, () =>
      expect(read(value)).toEqual({ reading: "refused", told: [told] }));

  test("are nothing if nothing is written", () => {
    expect(readApprovers(mapOf({}), new Diagnostics())).toBeNull();
  });

  test.each(["ann", "ann@example.org", "a.b-c_d", "7"])("%s is a name", (name) =>
    expect(isPersonName(name)).toBe(true),
  );
  test.each(["", " ann", "-ann", "an\u200bn", "a".repeat(65), "ann\n"])("%j is not a name", (name) =>
    expect(isPersonName(name)).toBe(false),
  );
});

describe("a record", () => {
  const record = (more: { readonly [key: string]: Json }) =>
    readRecord(treeOf({ capabilities: ["records.read", "memory.write"], ...more }), READING);

  test("has its approvers", () => {
    expect(record({ approvers: 2 })).toMatchObject({ approvers: { need: 2, of: null }, diagnostics: [] });
    expect(record({}).approvers).toBeNull();
    expect(record({ approvers: 2 }).grants).toHaveLength(record({}).grants.length);
  });

  test.each([
    { approvers: 0 },
    { approvers: { need: 3, of: ["ann"] } },
    { aprovers: 2 },
    { approver: 2 },
    { Approvers: 2 },
  ])("grants nothing if they are invalid: %j", (more) => {
    const { grants, approvers, diagnostics } = record(more as { readonly [key: string]: Json });
    expect(grants).toEqual([]);
    expect(approvers).toBeNull();
    expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true);
  });
});

describe("which is stricter", () => {
  const two = (of: readonly string[] | null): Approvers => ({ need: 2, of });
  const rows: readonly (readonly [Approvers | null, Approvers | null, boolean])[] = [
    [null, null, true],
    [two(null), null, true],
    [null, two(null), false],
    [null, { need: 1, of: null }, true],
    [two(null), { need: 3, of: null }, false],
    [{ need: 3, of: null }, two(null), true],
    [two(["ann", "bob"]), two(["ann", "bob", "eve"]), true],
    [two(["ann", "bob", "eve"]), two(["ann", "bob"]), false],
    [two(null), two(["ann", "bob"]), false],
    [null, { need: 1, of: ["ann"] }, false],
    [two(["ann", "bob"]), { need: 1, of: ["ann", "bob"] }, true],
  ];
  for (const [wanted, held, expected] of rows)
    test(`${JSON.stringify(wanted)} asks ${expected ? "no less" : "less"} than ${JSON.stringify(held)}`, () => {
      expect(approversWithin(wanted, held)).toBe(expected);
      const both = stricterApprovers(wanted, held);
      expect(approversWithin(both, wanted) && approversWithin(both, held)).toBe(true);
    });

  test("people who count for one text only do not count for both", () => {
    expect(stricterApprovers(two(["ann", "bob"]), two(["bob", "eve"]))).toEqual({ need: 2, of: ["bob"] });
  });
});
