// The small texts of `ambit agents`: durations, changed lines, lines to paste.
import { describe, expect, test } from "vitest";
import { changedLines } from "./diff/text-change.ts";
import { commandText } from "./terminal/command-text.ts";
import { parseDuration } from "./terminal/duration.ts";

describe("a duration", () => {
  const rows: readonly (readonly [string, number | null])[] = [
    ["30m", 1_800_000],
    ["2h", 7_200_000],
    ["7d", 604_800_000],
    ["1w", 604_800_000],
    ["45s", 45_000],
    ["0m", null],
    ["30", null],
    ["m", null],
    ["-5m", null],
    ["1.5h", null],
    ["30 m", null],
    ["9999999w", null],
    ["3660d", 316_224_000_000],
    ["3661d", null],
  ];
  for (const [text, length] of rows) test(JSON.stringify(text), () => expect(parseDuration(text)).toBe(length));
});

describe("changed lines", () => {
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ["a\nb\nc", "a\nb\nc", []],
    ["a\nb\nc", "a\nx\nc", ["-2 b", "+2 x"]],
    ["a\nc", "a\nb\nc", ["+2 b"]],
    ["access: r\nid: a\n---", "id: a\ncapabilities: []\n---", ["-1 access: r", "+2 capabilities: []"]],
    ["a\r\nb\r\n", "a\r\nc\r\n", ["-2 b", "+2 c"]],
    ["", "a", ["-1 ", "+1 a"]],
  ];
  for (const [before, after, lines] of rows)
    test(JSON.stringify([before, after]), () =>
      expect(changedLines(before, after).map(({ sign, line, text }) => `${sign}${line} ${text}`)).toEqual(lines),
    );
});

test("a line to paste has one shell word for each argument", () => {
  expect(commandText(["agents", "grant", "a", "net.get{hosts=[*.x]}"])).toBe(
    "ambit agents grant a 'net.get{hosts=[*.x]}'",
  );
  expect(commandText(["it's", "", "$(x)"])).toBe(`ambit 'it'\\''s' '' '$(x)'`);
});
