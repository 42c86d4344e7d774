import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Source } from "../notation/source.ts";
import { Draft } from "./draft.ts";
import type { Read } from "./read.ts";
import { readWith } from "./reader.ts";
import { libraryTree } from "./yaml-library.ts";
import { plainYamlTree } from "./yaml-plain.ts";

function byLibrary(source: Source): Read {
  return readWith(source, undefined, "written", libraryTree);
}

/** Was the text read without the library? If so the library says the same to the last span; if not, nothing is refused yet. */
function isPlain(text: string): boolean {
  const source = { name: "test.yaml", text };
  const draft = new Draft(source, { start: 0, end: text.length });
  const tree = plainYamlTree(text, draft);
  expect(draft.refused).toBe(false);
  if (tree !== null) expect({ tree, diagnostics: [] }, text).toEqual(byLibrary(source));
  return tree !== null;
}

const record = [
  "id: scout",
  "class: agent",
  `about: Looks things up, and doesn't "guess".`,
  "# what it may do",
  "sandbox: . # here",
  "capabilities:",
  "  - records.read",
  "  - net.get:",
  '      hosts: ["*.github.com", api.weather.gov]',
  "",
  "  - net.post: { hosts: [api.github.com], ask: true }",
  "  - proc.exec:",
  "      patterns: [\"git log **\", 'npm test']",
  "      uses: 12",
  "    # less indented",
  "tests: # kept",
  "- { allow: net.get https://api.github.com/repos }",
  "- deny: fs.read /etc/passwd",
  "  note: ä - b (日本)",
  "",
].join("\n");

/** Pieces that mean something to YAML, in places where they may and may not. */
const PIECES = [
  ..."\n -:#[]{},\"'&*!|>%@`?~.=<\\/0159azZ_^$;()+",
  ...[
    "\n  ",
    "\n    ",
    "\n- ",
    "\n  - ",
    ": ",
    ":\n",
    " #",
    "# ",
    "---",
    "...",
    "- ",
    "? ",
    "<<",
    "''",
    '""',
    "[]",
    "{}",
  ],
  ...[
    "null",
    "true",
    "False",
    "yes",
    "on",
    "~",
    ".inf",
    ".nan",
    "0x1f",
    "0o7",
    "1e3",
    "1.",
    ".5",
    "007",
    "12:30",
    "-1",
  ],
  ...[
    "a",
    "key",
    "net.get",
    "https://a.b/c",
    "\t",
    "\r\n",
    "é",
    "日本",
    "\u00a0",
    "\u3000",
    "😀",
    "\u2028",
    "a b",
    "a: b",
    "k: [x, y]",
    "{ k: v }",
    '"q"',
  ],
];

const piece = fc.constantFrom(...PIECES);

/** Texts near a record: pieces put in, taken out or put in place of others. */
const mutated = fc
  .array(fc.tuple(fc.nat(record.length), fc.nat(12), fc.oneof(piece, fc.constant(""))), { minLength: 1, maxLength: 4 })
  .map((cuts) =>
    cuts.reduce(
      (text, [at, size, put]) => text.slice(0, at) + put + text.slice(at + (size < 9 ? 0 : size - 8)),
      record,
    ),
  );

const key = fc.constantFrom("a", "b", "net.get", "x-y", "_z", "null", "on", "K9");
const scalar = fc.oneof(
  fc.constantFrom(
    "x",
    "a b",
    "/srv/x",
    ".",
    "./a",
    "a:b",
    "http://x",
    "5",
    "0",
    "true",
    '"q r"',
    "'s'",
    '""',
    "a*",
    "a  b",
    "x#y",
    "5a",
  ),
  fc.array(piece, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("")),
);
const { value: flow } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { minLength: 1, maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
    fc
      .array(fc.tuple(key, tie("value")), { minLength: 1, maxLength: 3 })
      .map((all) => `{ ${all.map(([k, v]) => `${k}: ${v}`).join(", ")} }`),
  ),
}));
/** Lines with an indentation that mostly fits. */
const lines = fc
  .array(
    fc.tuple(
      fc.constantFrom(0, 0, 2, 2, 4, 4, 6, 1, 3),
      fc.oneof(
        fc.tuple(key, flow).map(([k, v]) => `${k}: ${v}`),
        key.map((k) => `${k}:`),
        flow.map((v) => `- ${v}`),
        fc.tuple(key, flow).map(([k, v]) => `- ${k}: ${v}`),
        key.map((k) => `- ${k}:`),
        fc.constantFrom("", "a: b # c", "a: # d", "- e # f", "# note", "#", "- ", "- - a", "x"),
      ),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((all) => all.map(([column, text]) => " ".repeat(column) + text).join("\n"));

describe("plain YAML, read without the library", () => {
  it("is what records are written in", () => {
    expect(isPlain(record)).toBe(true);
  });

  it.each([mutated, lines])("is read to the same tree and spans, or not at all", (texts) => {
    let plain = 0;
    const runs = 5000;
    fc.assert(
      fc.property(texts, (text) => {
        if (isPlain(text)) plain++;
      }),
      { seed: 20_261_115, numRuns: runs },
    );
    // The property would hold of a reader that gives everything up.
    expect(plain).toBeGreaterThan(runs / 100);
  });

  it("is given up where the library would count", () => {
    expect(isPlain(`a: b${"\n".repeat(900)}`)).toBe(true);
    expect(isPlain(`a: b${"\n".repeat(4000)}`)).toBe(false);
    expect(isPlain(`a: ${"b".repeat(20_000)}`)).toBe(false);
    expect(isPlain(`a: ${"[".repeat(12)}b${"]".repeat(12)}`)).toBe(true);
    expect(isPlain(`a: ${"[".repeat(70)}b${"]".repeat(70)}`)).toBe(false);
  });
});
