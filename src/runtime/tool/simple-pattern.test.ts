// Simple patterns against the platform's regular expressions, and against adversarial texts.
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseSimplePattern } from "./simple-pattern.ts";

const piece = fc
  .tuple(
    fc.constantFrom("a", "b", ".", "\\d", "\\w", "\\.", "[ab]", "[^a]", "[a-c]", "[0-9_-]", "[\\d.]", "-"),
    fc.constantFrom("", "?", "*", "+", "{2}", "{0,2}", "{1,}"),
  )
  .map(([one, count]) => one + count);

test("every pattern we parse answers as the platform's does", () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 5 }).map((pieces) => `^${pieces.join("")}$`),
      fc
        .array(fc.constantFrom("a", "b", "c", "1", ".", "-", "_", "\n", "é", "😀"), { maxLength: 7 })
        .map((all) => all.join("")),
      (pattern, text) => {
        const ours = parseSimplePattern(pattern);
        if (!ours.ok) throw new Error(`${pattern}: ${ours.message}`);
        expect(ours.value(text)).toBe(new RegExp(pattern, "u").test(text));
      },
    ),
    { numRuns: 5000 },
  );
});

test.each([
  "a",
  "^a",
  "a$",
  "^(a)$",
  "^a|b$",
  "^a**$",
  "^[a$",
  "^\\$",
  "^\\b$",
  "^a{2,1}$",
  "^a{9999}$",
  "^[b-a]$",
  "^*$",
  "^a+?$",
  "^(?=a)$",
  "^\\1$",
  "^[]$",
])("%s is refused", (pattern) => {
  expect(parseSimplePattern(pattern).ok).toBe(false);
});

test("takes time that grows with the text alone", () => {
  const pattern = parseSimplePattern(`^${"a*".repeat(200)}$`);
  if (!pattern.ok) throw new Error(pattern.message);
  expect(pattern.value(`${"a".repeat(20_000)}b`)).toBe(false);
});
