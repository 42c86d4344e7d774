// Quoted specs in a real record: the caret is under the wrong word, and doctor still finds what was written.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRecord } from "../../src/core/notation/record/record.ts";
import { READING } from "../../src/core/notation/testing/notation.ts";
import { WrittenScopes } from "../../src/doctor/written.ts";
import { readFrontmatter } from "../../src/text/frontmatter.ts";

function underlined(text: string): readonly string[] {
  const { tree } = readFrontmatter({ name: "a.md", text }).read;
  if (tree === null) return ["not read"];
  return readRecord(tree, READING).diagnostics.map(({ code, span }) => `${code} ${text.slice(span.start, span.end)}`);
}

describe("the text under the caret", () => {
  const rows: readonly (readonly [title: string, value: string, underlined: string])[] = [
    ["a verb in double quotes", '["net.gett{hosts=[a.x]}"]', "unknown_verb net.gett"],
    ["a verb in single quotes", "['net.gett{hosts=[a.x]}']", "unknown_verb net.gett"],
    ["a key in quotes", "['net.get{host=[a.x]}']", "unknown_key host"],
    ["a key without quotes", "\n  - net.get{host=[a.x]}", "unknown_key host"],
    ["a key after a doubled quote", `['proc.exec{patterns=["it''s"],cmd=[x]}']`, "unknown_key cmd"],
    ["a key after escapes", `["proc.exec{patterns=[\\"a b\\"],cmd=[x]}"]`, "unknown_key cmd"],
    ["a key written with an escape", `["net.get{h\\x6fst=[a.x]}"]`, "unknown_key h\\x6fst"],
    ["the second of a line in quotes", `"records.read net.gett{hosts=[a.x]}"`, "unknown_verb net.gett"],
    ["a spec over two lines", `\n  - "net.get{ask,\n    host=[a.x]}"`, "unknown_key host"],
    ["a line of specs over two lines", ">-\n  records.read\n  net.gett{hosts=[a.x]}", "unknown_verb net.gett"],
  ];
  test.each(rows)("%s", (_title, value, expected) => {
    expect(underlined(`---\ncapabilities: ${value}\n---\n`)).toContain(expected);
  });
});

test("for all specs, quoted either way: doctor finds the scope of each grant by its position", () => {
  const spec = fc.constantFrom("memory.read{keys=[a]}", 'fs.read{paths=["it\'s a"]}', "net.get{hosts=[a.x], ask}");
  const quoted = fc
    .tuple(spec, fc.boolean())
    .map(([text, isSingle]) => (isSingle ? `'${text.replaceAll("'", "''")}'` : JSON.stringify(text)));
  const inLine = fc
    .tuple(fc.array(spec, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([specs, isSingle]) => [specs.join(" "), isSingle] as const)
    .map(([text, isSingle]) => (isSingle ? `'${text.replaceAll("'", "''")}'` : JSON.stringify(text)));
  const list = fc.array(quoted, { minLength: 1, maxLength: 4 }).map((specs) => `[${specs.join(", ")}]`);
  fc.assert(
    fc.property(fc.oneof(list, inLine), (value) => {
      const { tree } = readFrontmatter({ name: "a.md", text: `---\nsandbox: .\ncapabilities: ${value}\n---\n` }).read;
      if (tree === null) throw new Error(`not read: ${value}`);
      const scopes = new WrittenScopes(tree);
      const own = readRecord(tree, READING).grants.filter(({ implied }) => implied === null);
      expect(own.length).toBeGreaterThan(0);
      for (const grant of own) expect(scopes.of(grant)?.entries.length).toBeGreaterThan(0);
    }),
  );
});
