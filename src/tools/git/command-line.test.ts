// Whatever the input, the only options of git are ours, and a wildcard of a grant covers them.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseArgv, parseArgvPattern } from "../../core/authority/axes/argv.ts";
import { sequenceMatches } from "../../core/authority/patterns/sequence.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { inputParser } from "../../runtime/tool/input.ts";
import { gitLine } from "./command-line.ts";
import { GIT_COMMANDS, GIT_DEFINITION, TAKES } from "./definition.ts";

function argv(input: JsonObject): readonly string[] | string {
  const line = gitLine(input);
  return line.ok ? line.value.argv : line.message;
}

const PLAIN: readonly JsonObject[] = [
  { command: "status" },
  { command: "diff" },
  { command: "diff", staged: true, stat: true },
  { command: "log" },
  { command: "show" },
  { command: "show", file: "a" },
  { command: "add", all: true },
  { command: "add", paths: ["a"] },
  { command: "commit", message: "m" },
  { command: "commit", message: "m", all: true },
  { command: "branch" },
  { command: "branch", all: true },
  { command: "branch", name: "n" },
  { command: "fetch" },
  { command: "push" },
  { command: "push", name: "main" },
];

const OURS: ReadonlySet<string> = new Set(
  PLAIN.flatMap((input) => {
    const words = argv(input);
    return typeof words === "string" ? [] : words.filter((word) => word.startsWith("-"));
  }).map((word) => word.replace(/^(--message|--max-count)=.*/s, "$1=")),
);

describe("a git command", () => {
  test("is the program, the command and nothing before it", () => {
    for (const input of PLAIN) expect(argv(input).slice(0, 2)).toEqual(["git", input["command"]]);
    expect(OURS.size).toBeGreaterThan(20);
  });

  test.each(PLAIN)("%j is covered by the star of its command", (input) => {
    const words = argv(input);
    if (typeof words === "string") throw new Error(words);
    const [asked, pattern] = [parseArgv(words), parseArgvPattern(`git ${input["command"]} **`)];
    if (!asked.ok || !pattern.ok) throw new Error("does not parse");
    expect(sequenceMatches(pattern.value, asked.value)).toBe(true);
  });

  test("has no option but ours before `--`, whatever the input", () => {
    const acceptor = inputParser(GIT_DEFINITION.input);
    const text = fc.oneof(
      fc.string({ minLength: 1, maxLength: 12, unit: "binary" }),
      fc.constantFrom(
        "--output=x",
        "-C",
        "--exec=x",
        "+main",
        "a:b",
        "ext::x",
        "--",
        "-",
        "a\n--b",
        "@{-1}",
        "main",
        "v1..v2",
      ),
    );
    const values: Readonly<Record<string, fc.Arbitrary<JsonObject[string]>>> = {
      revision: text,
      to: text,
      file: text,
      message: text,
      name: text,
      remote: text,
      paths: fc.array(text, { maxLength: 3 }),
      staged: fc.boolean(),
      stat: fc.boolean(),
      all: fc.boolean(),
      limit: fc.integer({ min: 1, max: 1000 }),
    };
    const input = fc.constantFrom(...GIT_COMMANDS).chain((command) => {
      const fields = Object.fromEntries(
        TAKES[command].map((name) => [name, values[name] as fc.Arbitrary<JsonObject[string]>]),
      );
      return fc.record(fields, { requiredKeys: [] }).map((rest): JsonObject => ({ command, ...rest }));
    });
    let lines = 0;
    fc.assert(
      fc.property(input, (one) => {
        if (!acceptor.accept(one).ok) return;
        const words = argv(one);
        if (typeof words === "string") return;
        lines++;
        const end = words.indexOf("--");
        for (const word of words.slice(2, end < 0 ? undefined : end).filter((each) => each.startsWith("-")))
          expect(OURS).toContain(word.replace(/^(--message|--max-count)=.*/s, "$1="));
      }),
      { numRuns: 3000 },
    );
    expect(lines).toBeGreaterThan(500);
  });
});
