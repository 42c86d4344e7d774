// Braces are expanded when a pattern is parsed; no later step sees them.
import { expect, test } from "vitest";
import { braceExpansionsMax } from "../../base/limits.ts";
import { braces } from "./braces.ts";

test.each([
  ["/a/b", ["/a/b"]],
  ["/{a,b}/c", ["/a/c", "/b/c"]],
  ["/{a,}x", ["/ax", "/x"]],
  ["/{a,{b,c}}", ["/a", "/b", "/c"]],
  ["/{a,b}/{c,d}", ["/a/c", "/a/d", "/b/c", "/b/d"]],
  ["*.{ts,tsx}", ["*.ts", "*.tsx"]],
] as const)("%j is expanded", (text, expected) => {
  const result = braces(text);
  expect(result.ok && [...result.value].sort()).toEqual([...expected].sort());
});

test.each([
  ["/{a,b/c", "an unbalanced brace"],
  ["/a,b}/c", "an unbalanced brace"],
  ["/}a,b{", "an unbalanced brace"],
  ["/{a}", "at least two alternatives"],
  ["/{}", "at least two alternatives"],
  ["/{a,b}}", "an unbalanced brace"],
  ["/{{a,b}", "an unbalanced brace"],
])("%j is refused: %s", (text, why) => {
  const result = braces(text);
  expect(result.ok).toBe(false);
  expect(result.ok ? "" : result.message).toContain(why);
});

test("braces expand to as many patterns as the limit, and not one more", () => {
  const choices = (count: number): string => `{${Array.from({ length: count }, (_, at) => `a${at}`).join(",")}}`;
  const full = braces(choices(braceExpansionsMax));
  expect(full.ok && full.value.length).toBe(braceExpansionsMax);
  expect(braces(choices(braceExpansionsMax + 1)).ok).toBe(false);
  expect(braces("{a,b}".repeat(6)).ok).toBe(true);
  expect(braces("{a,b}".repeat(7)).ok).toBe(false);
});
