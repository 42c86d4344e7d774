import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Diagnostic } from "../../core/notation/diagnostic.ts";
import { renderDiagnostic } from "./render.ts";

function render(text: string, start: number, end: number, more: Partial<Diagnostic> = {}): string {
  const span = { source: "a.md", start, end };
  return renderDiagnostic(
    { severity: "error", code: "unknown_verb", message: "no such verb", span, suggestion: null, fix: null, ...more },
    { name: "a.md", text },
  );
}

describe("a diagnostic is shown as a compiler shows it", () => {
  it("code, position, line, carets, the nearest name and the fix", () => {
    expect(render("a: 1\n- net.gte: x\n", 7, 14, { suggestion: "net.get", fix: "write net.get" })).toBe(
      [
        "error[unknown_verb]: no such verb",
        " --> a.md:2:3",
        "  |",
        "2 | - net.gte: x",
        "  |   ^^^^^^^",
        "  = did you mean net.get?",
        "  = fix: write net.get",
      ].join("\n"),
    );
  });

  it("a fix of several lines can be copied", () => {
    expect(render("a", 0, 1, { fix: "---\na: 1\n---" })).toMatch(/ {2}= fix:\n {6}---\n {6}a: 1\n {6}---$/);
  });

  it("in colours, when there are any", () => {
    const mark = (name: string) => (text: string) => `<${name}>${text}</${name}>`;
    const paint = {
      good: mark("good"),
      bad: mark("bad"),
      warn: mark("warn"),
      dim: mark("dim"),
      strong: mark("strong"),
    };
    const diagnostic = {
      severity: "warning",
      code: "inert",
      message: "m",
      span: { source: "a", start: 0, end: 1 },
      suggestion: null,
      fix: null,
    } as const;
    expect(renderDiagnostic(diagnostic, { name: "a", text: "x" }, paint)).toMatch(
      /^<warn>warning<\/warn>\[inert\].*<strong>\^<\/strong>$/s,
    );
  });

  it.each([
    ["a tab is two spaces", "\tx", 1, 2, "1 |   x", "  |   ^"],
    ["wide characters take two columns", "日本x", 2, 3, "1 | 日本x", "  |     ^"],
    ["and two carets", "日本x", 0, 1, "1 | 日本x", "  | ^^"],
    ["combining marks take none", "e\u0301x", 2, 3, "1 | e\u0301x", "  |  ^"],
    ["control characters are escaped", "\u001b[31mx", 5, 6, "1 | \\u{1b}[31mx", "  |           ^"],
    ["so are those that reorder a line", "a\u202eb", 1, 2, "1 | a\\u{202e}b", "  |  ^^^^^^^^"],
    ["so are those without a width", "a\u200bb", 2, 3, "1 | a\\u{200b}b", "  |          ^"],
    ["so is a blank that is not a space", "a\u00a0b", 2, 3, "1 | a\\u{a0}b", "  |        ^"],
    ["so is half a character", "\ud800x", 1, 2, "1 | \\u{d800}x", "  |         ^"],
    ["an empty span has one caret", "ab", 2, 2, "1 | ab", "  |   ^"],
    ["a span over several lines is shown on its first", "ab\ncd", 1, 5, "1 | ab", "  |  ^"],
    ["a span at a line's end stays on it", "ab\r\ncd", 2, 4, "1 | ab", "  |   ^"],
    ["CR ends a line", "a\rbc", 3, 4, "2 | bc", "  |  ^"],
  ])("%s", (_rule, text, start, end, line, carets) => {
    expect(render(text, start, end).split("\n").slice(3)).toEqual([line, carets]);
  });

  it("a long line is shown around the span", () => {
    const text = `${"a".repeat(5000)}XYZ${"b".repeat(5000)}`;
    const [, place, , line = "", carets = ""] = render(text, 5000, 5003).split("\n");
    expect(place).toBe(" --> a.md:1:5001");
    expect(line.length).toBeLessThan(130);
    expect(line).toMatch(/^1 \| …a+XYZb+…$/);
    expect(line.indexOf("XYZ")).toBe(carets.indexOf("^^^"));
  });

  it("a span of another text has no line here", () => {
    expect(render("a", 0, 1, { span: { source: "b.md", start: 0, end: 1 } })).toBe("error[unknown_verb]: no such verb");
  });
});

describe("for all texts", () => {
  it("no output has terminal control characters, carets are below the line, and no line is long", () => {
    const any = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes)),
      fc.string(),
    );
    fc.assert(
      fc.property(
        any,
        any,
        any,
        fc.integer({ min: -5, max: 200 }),
        fc.integer({ min: -5, max: 300 }),
        (text, message, name, start, end) => {
          const source = { name, text };
          const shown = renderDiagnostic(
            {
              severity: "info",
              code: "syntax",
              message,
              span: { source: name, start, end },
              suggestion: message,
              fix: message,
            },
            source,
          );
          expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u);
          const lines = shown.split("\n");
          expect(lines[4]).toMatch(/^ *\| *\^+$/);
          expect([...(lines[3] ?? "")].filter((character) => !/\p{M}/u.test(character)).length).toBeLessThan(140);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
