// The needs of a script are complete or refused: no command and no file is left out.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { READING } from "../../core/notation/testing/notation.ts";
import { parseScript } from "./language/parse.ts";
import { argvText } from "./language/print.ts";
import type { Construct } from "./language/refusal.ts";
import { type CommandNeeds, requestsOf, type ScriptNeeds } from "./needs.ts";
import { requestsFor } from "./tool-requests.ts";

function needs(text: string): ScriptNeeds {
  const parsed = parseScript(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.construct}`);
  return requestsOf(parsed.script);
}

function known(text: string): readonly CommandNeeds[] {
  const found = needs(text);
  if (!found.ok) throw new Error(`${text}: ${found.construct}`);
  return found.commands;
}

describe("a script needs", () => {
  test("every program of it with its arguments, in order, wherever it is", () => {
    expect(known("a 'b c' | d && e || f ; g\nh").map(({ argv }) => argv)).toEqual([
      ["a", "b c"],
      ["d"],
      ["e"],
      ["f"],
      ["g"],
      ["h"],
    ]);
  });

  test("every file that its redirections open, separately for reading and writing", () => {
    expect(known("a <b >c 2>>'d e' 2>&1 | f < g")).toEqual([
      { argv: ["a"], reads: ["b"], writes: ["c", "d e"] },
      { argv: ["f"], reads: ["g"], writes: [] },
    ]);
  });

  test.each([
    "a {} b",
    "a HEAD~1 b~",
    "a @{1}",
    "a b#c",
    "a b=c",
    "'if' b",
    "a cd",
    "a '~' '#' '{b,c}'",
    "'[' b ]",
    "./cd",
  ])("one program with its literal arguments: %j", (text) => {
    expect(known(text)).toHaveLength(1);
  });

  // The text, with the position between two marks.
  test.each<[string, Construct]>([
    ["«$a» b", "unknown_program"],
    ["«a*» b", "unknown_program"],
    ["«[» -f a ]", "unknown_program"],
    ["«[[» -f a ]]", "shell_word"],
    ["a «$b»", "unknown_argument"],
    ["a «b*»", "unknown_argument"],
    ["a; b «c?»", "unknown_argument"],
    ["a > «$b»", "unknown_target"],
    ["a > «~/b»", "expanded_by_shells"],
    ["a < «b{c,d}»", "expanded_by_shells"],
    ["a «~»", "expanded_by_shells"],
    ["a b «#» c", "expanded_by_shells"],
    ["«#» a", "expanded_by_shells"],
    ["a «{b,c}»", "expanded_by_shells"],
    ["a «b{1..3}»", "expanded_by_shells"],
    ["a «{b,'c'}»", "expanded_by_shells"],
    ["«A=b» c", "assignment"],
    ["«A+=b»", "assignment"],
    ["«A='b c'» d", "assignment"],
    ["«if» a; then b; fi", "shell_word"],
    ["«!» a", "shell_word"],
    ["«{» a; }", "shell_word"],
    ["a && «cd» b", "shell_word"],
    ["«'cd'» b", "shell_word"],
    ["«.» a", "shell_word"],
    ["«eval» a", "shell_word"],
    ["«export» A=b", "shell_word"],
    ["«''» a", "empty_program"],
  ])("more than can be derived from %j: %s", (marked, construct) => {
    const text = marked.replace(/[«»]/g, "");
    const range = { start: marked.indexOf("«"), end: marked.indexOf("»") - 1 };
    expect(needs(text)).toMatchObject({ ok: false, class: "unknown", construct, range });
  });

  test("one request for each command and each file, or nothing at all", () => {
    const requests = requestsFor(known("a b <c | d >/e/../f"), { in: "/work", root: "ro" }, READING.pathSettings);
    if (!requests.ok) throw new Error(requests.message);
    expect(requests.value.map(({ verb }) => verb.verb)).toEqual(["proc.exec", "fs.read", "proc.exec", "fs.write"]);
    expect(requests.value.map(({ values }) => values)).toMatchObject([
      [{ segments: ["work"] }, { segments: ["a", "b"] }, "ro"],
      [{ segments: ["work", "c"] }],
      [{ segments: ["work"] }, { segments: ["d"] }, "ro"],
      [{ segments: ["f"] }],
    ]);
    const bad = known("a >b").map((command) => ({ ...command, writes: ["b\0"] }));
    expect(requestsFor(bad, { in: "/work", root: "ro" }, READING.pathSettings).ok).toBe(false);
  });

  test("as many commands as the operators say, whatever the arguments are", () => {
    const vector = fc.array(fc.string({ maxLength: 8 }), { minLength: 1, maxLength: 4 });
    const joined = fc.array(fc.tuple(vector, fc.constantFrom(" | ", " && ", " || ", " ; ", "\n")), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(joined, (list) => {
        const argvs = list.map(([argv], at) => [`program${at}`, ...argv]);
        const text = argvs.map((argv, at) => `${at === 0 ? "" : list[at - 1]?.[1]}${argvText(argv)}`).join("");
        expect(known(text).map(({ argv }) => argv)).toEqual(argvs);
      }),
    );
  });
});
