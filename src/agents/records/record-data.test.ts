import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { type RecordReading, readRecordData } from "./record-data.ts";
import { recordText } from "./record-text.ts";

function read(text: string, path = "notes/a.md"): RecordReading {
  const { read: found, body } = readFrontmatter({ name: "a.md", text });
  if (found.tree === null) return { record: null, diagnostics: found.diagnostics };
  return readRecordData(path, found.tree, text.slice(body.start));
}

function told(reading: RecordReading): readonly string[] {
  return reading.diagnostics.map(({ severity, code }) => `${severity} ${code}`);
}

describe("a record's id, class and title", () => {
  it.each<readonly [string, object]>([
    ["---\n---\n", { id: "notes/a", recordClass: null, title: "a", tags: [] }],
    ["---\nclass: note\ntitle: T\ntags: [x, y]\n---\n", { recordClass: "note", title: "T", tags: ["x", "y"] }],
    ["---\nid: other/name\n---\n", { id: "other/name", title: "name", path: "notes/a.md" }],
    ["---\nclass: note\n---\ntext\n# Heading #\n# Second\n", { title: "Heading" }],
    ["---\ntags: one\n---\n", { tags: ["one"] }],
    [
      "---\nlinks: [b, '[[c]]']\n---\n[[d]]",
      {
        links: [
          { kind: "field", target: "b" },
          { kind: "field", target: "c" },
          { kind: "wiki", target: "d" },
        ],
      },
    ],
    ["---\nname: x\nanything: { goes: [here] }\n---\n", { id: "notes/a" }],
  ])("%j", (text, expected) => {
    const reading = read(text);
    expect(told(reading)).toEqual([]);
    expect(reading.record).toMatchObject(expected);
  });
});

describe("mistakes are reported, and the rest is parsed", () => {
  it.each<readonly [string, readonly string[], boolean]>([
    ["---\nclass: note\n---\n", [], true],
    ["---\nclass: [note]\n---\n", ["error wrong_type"], true],
    ["---\ntags: [1]\n---\n", ["error wrong_type"], true],
    ["---\nid: ../a\n---\n", ["error bad_value"], false],
    ["---\nid: a/.b\n---\n", ["error bad_value"], false],
    ["---\nid: a/b\n---\n", [], true],
    ["---\nid: 'a*'\n---\n", ["error bad_value"], false],
    ["---\nid: 7\n---\n", ["error wrong_type"], false],
    ["---\n- a\n---\n", ["error wrong_type"], false],
    ["---\nclass: note\n", ["error syntax"], false],
    ["no frontmatter", ["error syntax"], false],
    ["---\nclass: note\nclass: note\n---\n", ["error syntax"], false],
  ])("%j", (text, codes, isRecord) => {
    const reading = read(text);
    expect(told(reading)).toEqual(codes);
    expect(reading.record !== null).toBe(isRecord);
  });

  it.each(["agent", "Agent", "AGENT", "' agent '"])("class %s is never a plain record", (recordClass) => {
    expect(read(`---\nclass: ${recordClass}\n---\n`).record).toBeNull();
  });

  it.each(["agents", "agent-notes", "reagent"])("class %s is", (recordClass) => {
    expect(read(`---\nclass: ${recordClass}\n---\n`).record).not.toBeNull();
  });
});

test("a new record parses back as what it was made from", () => {
  const title = fc.option(fc.string({ unit: "binary", maxLength: 80 }), { nil: null });
  const recordClass = fc.oneof(
    fc.stringMatching(/^[a-z0-9_/.-]{1,12}$/),
    fc.constantFrom("null", "true", "a b", "ä: #x", "'\""),
  );
  fc.assert(
    fc.property(recordClass, title, (named, written) => {
      const text = recordText(named, written);
      fc.pre(text.ok);
      if (!text.ok) return;
      const reading = read(text.value);
      expect(told(reading)).toEqual([]);
      expect(reading.record).toMatchObject({ recordClass: named, title: written ?? "a" });
    }),
    { numRuns: 300 },
  );
});
