// The rows of the shell files cannot pass with a wrong answer, and its decisions excuse only what they predict.
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/core/base/json.ts";
import type { FileReport } from "./report.ts";
import { runFile } from "./run.ts";

function run(name: string, ...rows: readonly { readonly [key: string]: Json }[]): Promise<FileReport> {
  return runFile({ name, header: {}, rows });
}

const command = (...words: readonly string[]): Json => ({ argv: words.map((lit) => ({ lit })), redirects: [] });
const accepted = (...commands: readonly Json[]): Json => ({
  verdict: "accept",
  script: commands.map((stage) => ({ sep: ";", stages: [stage] })),
});
const row = (input: string, expect: Json): { readonly [key: string]: Json } => ({ input, expect });

describe("a script of the vectors", () => {
  test.each<[string, Json, Json]>([
    ["tally x", accepted(command("tally", "x")), accepted(command("tally", "y"))],
    ["tally $(x)", { verdict: "refuse", class: "dynamic" }, { verdict: "refuse", class: "malformed" }],
    [
      "tally *$X >'a b'",
      {
        verdict: "accept",
        script: [
          {
            sep: ";",
            stages: [
              {
                argv: [{ lit: "tally" }, { varglob: [{ lit: "*" }, { var: "X" }] }],
                redirects: [{ fd: 1, path: [{ lit: "a b" }], append: false }],
              },
            ],
          },
        ],
      },
      { verdict: "refuse", class: "unsupported" },
    ],
  ])("%j passes with its answer and fails with another", async (input, right, wrong) => {
    const report = await run("bridle-safe-subset-shell", row(input, right), row(input, wrong));
    expect(report).toMatchObject({ passed: 1, decided: [], failed: [{ case: "bridle-safe-subset-shell#1" }] });
  });

  test.each<[string, string, Json]>([
    ["a newline", "tally a\nb", accepted(command("tally", "a", "b"))],
    ["a joined line", "tally a\\\nb", accepted(command("tally", "a\nb"))],
    ["a no-break space", "tally a\u00a0b", accepted(command("tally", "a", "b"))],
  ])("%s is decided where the file has its own rule's answer, and fails elsewhere", async (_, input, seeds) => {
    const report = await run("bridle-safe-subset-shell", row(input, seeds), row(input, accepted(command("other"))));
    expect(report.decided).toMatchObject([
      { case: "bridle-safe-subset-shell#0", decision: "0029-shell-subset", wider: false },
    ]);
    expect(report.failed).toHaveLength(1);
  });
});

test("a file name passes with its answer and fails with the other", async () => {
  const name = { pattern: "*.tally", name: "a.tally" };
  const report = await run("bridle-fnmatch", { ...name, matches: true }, { ...name, matches: false });
  expect(report).toMatchObject({ passed: 1, failed: [{ expected: { matches: false }, got: { matches: true } }] });
});
