import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inside, lineAt, place } from "./source.ts";

describe("an offset has the line and the column an editor shows", () => {
  it.each([
    ["", 0, 1, 1],
    ["ab", 1, 1, 2],
    ["ab", 2, 1, 3],
    ["a\nb", 1, 1, 2],
    ["a\nb", 2, 2, 1],
    ["a\r\nb", 1, 1, 2],
    ["a\r\nb", 2, 1, 2],
    ["a\r\nb", 3, 2, 1],
    ["a\rb", 2, 2, 1],
    ["a\n\nb", 2, 2, 1],
    ["a\n\nb", 3, 3, 1],
    ["a\n", 2, 2, 1],
    ["😀b", 2, 1, 2],
    ["😀b", 1, 1, 1],
    ["\ud800b", 1, 1, 2],
    ["ab", -1, 1, 1],
    ["ab", 99, 1, 3],
    ["ab", Number.NaN, 1, 1],
  ])("%j at %d", (text, offset, line, column) => {
    expect(place({ name: "", text }, offset)).toEqual({ line, column });
  });
});

describe("for all texts", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.constantFrom("a", "\r", "\n", "😀", "\ud800", "\udc00")).map((list) => list.join("")),
  );
  it("lines follow each other, and contain no break", () => {
    fc.assert(
      fc.property(text, (content) => {
        const source = { name: "", text: content };
        let number = 1;
        for (let offset = 0; offset <= content.length; offset++) {
          const line = lineAt(source, offset);
          expect(line.number === number || line.number === number + 1).toBe(true);
          number = line.number;
          expect(content.slice(line.start, line.end)).not.toMatch(/[\r\n]/);
          expect(line.start <= offset).toBe(true);
        }
        expect(number).toBe(content.split(/\r\n|\r|\n/).length);
      }),
    );
  });
  it("a range is clamped to the text", () => {
    fc.assert(
      fc.property(text, fc.double(), fc.double(), (content, start, end) => {
        const range = inside(content, { start, end });
        expect(0 <= range.start && range.start <= range.end && range.end <= content.length).toBe(true);
      }),
    );
  });
});
