import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sizeFor } from "../../test/house/long.ts";
import { type Frontmatter, readFrontmatter } from "./frontmatter.ts";
import { hostile, inTime, repeatedTexts } from "./testing/hostile.ts";
import { checkRead, isOneAway, shape } from "./testing/text.ts";

function read(text: string): Frontmatter {
  const source = { name: "test.md", text };
  const result = readFrontmatter(source);
  checkRead(result.read, source);
  expect(result.body.start).toBeLessThanOrEqual(text.length);
  return result;
}

describe("frontmatter is between two lines of three dashes, and one character away there is none", () => {
  const rows: readonly (readonly [rule: string, text: string, tree: string, body: string, refused: string])[] = [
    ["it is at the beginning of the text", "---\na: 1\n---\nbody", '{"a":1}', "body", " ---\na: 1\n---\nbody"],
    ["three dashes, not four", "---\na: 1\n---\n", '{"a":1}', "", "----\na: 1\n---\n"],
    ["three dashes, not two", "---\na: 1\n---\n", '{"a":1}', "", "---\na: 1\n--\n"],
    ["nothing after the opening dashes", "---\na: 1\n---", '{"a":1}', "", "--- \na: 1\n---"],
    ["nothing after the closing dashes", "---\na: 1\n---", '{"a":1}', "", "---\na: 1\n--- "],
    ["it is closed in the first column", "---\na: 1\n---", '{"a":1}', "", "---\na: 1\n ---"],
    ["a byte order mark is skipped", "\uFEFF---\na: 1\n---\nb", '{"a":1}', "b", "\uFEFF\uFEFF---\na: 1\n---\nb"],
    ["lines end as they do on Windows", "---\r\na: 1\r\n---\r\nb", '{"a":1}', "b", "---\r\na: 1\r\n--\r\nb"],
    ["it may be empty", "---\n---\n", "null", "", "---\n--\n"],
    ["it ends at the first such line", "---\na: 1\n---\n---\n", '{"a":1}', "---\n", "---\na: *\n---\n---\n"],
    ["it is YAML", "---\na: [1]\n---\n", '{"a":[1]}', "", "---\na: [1\n---\n"],
    ["its keys are unique", "---\na: 1\nb: 1\n---\n", '{"a":1,"b":1}', "", "---\na: 1\na: 1\n---\n"],
  ];
  it.each(rows)("%s", (_rule, text, tree, body, refused) => {
    const found = read(text);
    expect(shape(found.read.tree)).toBe(tree);
    expect(text.slice(found.body.start)).toBe(body);
    expect(shape(read(refused).read.tree)).toBe("refused");
    expect(isOneAway(text, refused)).toBe(true);
  });

  it.each(["", "# Title\n", "a: 1\n", "---\na: 1\n", "---", "\uFEFF"])(
    "what is missing is shown by an example: %j",
    (text) => {
      const [diagnostic] = read(text).read.diagnostics;
      expect(diagnostic?.fix).toMatch(/^---\n.*\n---$/s);
    },
  );

  it("spans are those of the whole text", () => {
    const text = "---\na: 1\nhosts: [*.x]\n---\n";
    const [diagnostic] = read(text).read.diagnostics;
    expect(text.slice(diagnostic?.span.start, diagnostic?.span.end)).toBe("*.x");
  });
});

describe("for all texts", () => {
  it("parsing returns, and its diagnostics satisfy the invariant", () => {
    fc.assert(
      fc.property(hostile(["---\na: 1\n---\nbody\n", "\uFEFF---\r\na: [b]\r\n---\r\n"]), (text) => void read(text)),
      { numRuns: 1000 },
    );
  });
  it.each([
    ...repeatedTexts(["-", "---\n", "--- \n", "\r", "\n", "a"], sizeFor(80_000, 250_000)),
    ["ten megabytes", "---\n".repeat(2_500_000)] as const,
  ])("%s", (_title, text) => {
    inTime(() => read(text));
    inTime(() => read(`---\n${text}`));
  });
});
