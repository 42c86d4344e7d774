// Accepting a finding: with a reason, by its code, and never an error.
import { describe, expect, test } from "vitest";
import { sectionFor } from "../../test/doctor/probe.ts";

const LEAK = 'capabilities:\n  - records.read\n  - net.get{hosts=["*"]}\n';
const accept = (item: string): string => `${LEAK}doctor: { accept: [${item}] }`;
const codes = (text: string): readonly string[] => sectionFor(text).findings.map(({ code }) => code);

describe("an accepted finding", () => {
  test("is hidden and listed with its reason", () => {
    expect(codes(LEAK)).toEqual(["lethal_combination"]);
    const section = sectionFor(accept('{ code: lethal_combination, reason: "a toy" }'));
    expect(section).toMatchObject({
      findings: [],
      warnings: 0,
      accepted: [{ code: "lethal_combination", reason: "a toy" }],
    });
  });

  test.each([
    ["no reason", "{ code: lethal_combination }"],
    ["an empty reason", '{ code: lethal_combination, reason: " " }'],
    ["a reason that is not text", "{ code: lethal_combination, reason: 5 }"],
    ["an unknown code", '{ code: lethal_combinatio, reason: "a toy" }'],
    ["an error's code", '{ code: unknown_verb, reason: "a toy" }'],
    ["an unknown key", '{ code: lethal_combination, reason: "a toy", until: 5 }'],
    ["a plain word", "lethal_combination"],
  ])("is still reported with %s, beside what is wrong with the acceptance", (_what, item) => {
    expect(codes(accept(item)).toSorted()).toEqual(["bad_acceptance", "lethal_combination"]);
  });

  test.each(["doctor: yes", "doctor: { acept: [] }", "doctor: { accept: lethal_combination }", "doctor: []"])(
    "is still reported under `%s`",
    (line) => {
      expect(codes(LEAK + line)).toContain("lethal_combination");
      expect(codes(LEAK + line)).toContain("bad_acceptance");
    },
  );

  test("that no longer occurs is reported, without a warning", () => {
    const text = 'capabilities: [records.read]\ndoctor: { accept: [{ code: lethal_combination, reason: "a toy" }] }';
    expect(sectionFor(text)).toMatchObject({ findings: [{ code: "bad_acceptance", severity: "info" }], warnings: 0 });
  });

  test("never hides another one", () => {
    expect(
      codes('capabilities:\n  - fs.write{in=/w}\ndoctor: { accept: [{ code: unscoped_exec, reason: "x" }] }'),
    ).toContain("records_writable");
  });
});
