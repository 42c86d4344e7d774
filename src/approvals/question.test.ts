// The question as a person reads it: nothing is hidden or reordered, and every omission is marked.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { displayLine, displayValue } from "./display-text.ts";
import { questionOf } from "./question.ts";
import { approvalOf } from "./testing/approval.ts";

const digest = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

describe("a value", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["plain", "git push", '"git push"'],
    ["its own quotes and backslashes", 'a"\\u{202e}b', String.raw`"a\"\\u{202e}b"`],
    ["a line break", "a\nb", String.raw`"a\nb"`],
    ["an escape sequence", "\u001b[2Jx", String.raw`"\u001b[2Jx"`],
    ["one in a single character", "\u009b2Jx", String.raw`"\u{9b}2Jx"`],
    ["right-to-left text", "a\u202egpj.exe", String.raw`"a\u{202e}gpj.exe"`],
    ["isolates", "\u2066a\u2069", String.raw`"\u{2066}a\u{2069}"`],
    ["an empty value", "a\u200bb\u2060c\ufeffd", String.raw`"a\u{200b}b\u{2060}c\u{feff}d"`],
    ["tag characters", "a\u{e0041}b", String.raw`"a\u{e0041}b"`],
    ["a filler that counts as a letter", "a\u3164b", String.raw`"a\u{3164}b"`],
    ["another blank", "a\u00a0b\u2003c", String.raw`"a\u{a0}b\u{2003}c"`],
    ["another line", "a\u2028b", String.raw`"a\u{2028}b"`],
    ["half a character", "a\ud800b", String.raw`"a\ud800b"`],
    ["a combining mark on a letter", "a\u0338b", String.raw`"a\u{338}b"`],
    [
      "stacked combining marks",
      "\u0430\u0301\u0301\u0301\u0301",
      String.raw`"${"\u0430"}\u{301}\u{301}\u{301}\u{301}"`,
    ],
    ["letters with marks of their own", "न\u093fd", '"न\u093fd"'],
    ["a private-use character", "\ue000", String.raw`"\u{e000}"`],
    ["many blanks", `a${" ".repeat(200)}b`, String.raw`"a\u{20}*200b"`],
    ["several spaces", "a        b", '"a        b"'],
  ];
  for (const [title, value, shown] of rows) test(title, () => expect(displayValue(value).text).toBe(shown));

  test("says when letters may look like others", () => {
    expect(displayValue("аpple").notes).toEqual(["non-ASCII letters, which may look like other letters"]);
    expect(displayValue("apple").notes).toEqual([]);
    expect(displayLine("a\u202eb").notes[0]).toBe("invisible characters are shown as escapes");
  });

  test("no two values look the same", () => {
    const values = [
      "a\u202eb",
      "a\\u{202e}b",
      "a\\\\u{202e}b",
      'a"b',
      'a\\"b',
      "a\nb",
      "a\\nb",
      "         ",
      "\\u{20}*9",
    ];
    expect(new Set(values.map((value) => displayValue(value).text)).size).toBe(values.length);
  });
});

describe("an approval request", () => {
  test("says which contents the answer depends on, and which it does not", () => {
    const binding = { bound: ["/w/a\u202eb.sh"], unbound: ["other files that the program reads"] };
    const lines = questionOf(approvalOf({ binding }), digest).binding;
    expect(lines.map(({ label, text }) => `${label}: ${text}`)).toEqual([
      String.raw`bound: /w/a\u{202e}b.sh`,
      "not bound: other files that the program reads",
    ]);
    expect(questionOf(approvalOf({ binding: null }), digest).binding).toEqual([]);
  });

  test("names the agent, the whole call, and the risk of what it needs", () => {
    const question = questionOf(
      approvalOf({
        who: { user: "ann", agent: "scout", workspace: "/w", chain: ["l-1", "l-2"], session: "s", trace: "t" },
        arguments: { path: "a", "odd key\u202e": [{ deep: true }, null, {}, []], n: 5 },
      }),
      digest,
    );
    expect(question.who.map(({ label, text }) => `${label}: ${text}`)).toEqual([
      "user: ann",
      "agent: scout",
      "workspace: /w",
      "delegated by: l-1 > l-2",
      "session: s",
      "trace: t",
    ]);
    expect(question.call.map(({ label, text }) => `${label} = ${text}`)).toEqual([
      "tool = fs_write",
      'path = "a"',
      String.raw`"odd key\u{202e}"[0].deep = true`,
      String.raw`"odd key\u{202e}"[1] = null`,
      String.raw`"odd key\u{202e}"[2] = {}`,
      String.raw`"odd key\u{202e}"[3] = []`,
      "n = 5",
    ]);
    expect(question.requests.map(({ verb, risk, isAsking }) => `${verb} ${risk} ${isAsking}`)).toEqual([
      "tool.invoke medium false",
      "fs.write high true",
    ]);
  });

  test("an unknown verb is of high risk", () => {
    const [line] = questionOf(approvalOf({ requests: ["made.up x"], asking: [] }), digest).requests;
    expect(line).toMatchObject({ verb: "made.up", risk: "high", isAsking: false });
  });

  test("folds long text, with its length and digest", () => {
    const long = `${"a".repeat(5000)}rm -rf${"b".repeat(5000)}`;
    const folded = questionOf(approvalOf({ arguments: { content: long } }), digest).call[1];
    expect(folded?.text).toBe(`"${"a".repeat(400)}" ... "${"b".repeat(120)}"`);
    expect(folded?.notes).toEqual([`10006 characters, 9486 in the middle are not shown, sha256 ${digest(long)}`]);
    expect(questionOf(approvalOf({ arguments: { content: long } }), null).call[1]?.text).toBe(`"${long}"`);
    const request = `fs.write /${"x".repeat(5000)}`;
    const [line] = questionOf(approvalOf({ requests: [request], asking: [request] }), digest).requests;
    expect(line?.text.length).toBeLessThan(700);
    expect(line).toMatchObject({ verb: "fs.write", risk: "high", isAsking: true });
    const key = questionOf(approvalOf({ arguments: { ["k".repeat(9000)]: 1 } }), digest).call[1];
    expect(key?.label).toContain("9000 characters");
    expect(key?.label.length).toBeLessThan(800);
  });

  test("counts omitted values, and terminates for deep ones", () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, at]));
    const { call } = questionOf(approvalOf({ arguments: many }), digest);
    expect(call).toHaveLength(202);
    expect(call.at(-1)?.notes[0]).toContain("4800 more values");
    expect(questionOf(approvalOf({ arguments: many }), null).call).toHaveLength(5001);
    let deep: object = {};
    for (let at = 0; at < 2000; at++) deep = { a: deep };
    expect(questionOf(approvalOf({ arguments: deep as never }), digest).call).toHaveLength(2);
  });
});
