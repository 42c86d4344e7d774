// Hostile input, all the way from text to decision: it never throws, never hangs, never widens.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/agents/project/agent.ts";
import { CATALOG } from "../../src/core/authority/catalog.ts";
import type { Moment } from "../../src/core/authority/compiled.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { within } from "../../src/core/authority/witness/within.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { readRequestText } from "../../src/core/notation/request/request.ts";
import { agentOf } from "../../src/main/compose.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { pathSettingsOf } from "../../src/platform/path-settings.ts";
import { sizeFor } from "../house/long.ts";
import { NOT_A_CAPABILITY, RECORD, SAMPLES, spoiledDocument } from "./documents.ts";

const reading: Reading = {
  pathSettings: pathSettingsOf({ home: "/home/u", cwd: "/srv/demo" }),
  toAscii,
  ceiling: null,
};
const moment: Moment = { now: 0, clean: true, generation: 1, revoked: null, exhausted: null };
const runs = sizeFor(1_500, 50_000);
const endings = [".md", ".yml", ".json", ".toml"];

function read(text: string, ending: string): Agent {
  return agentOf({ name: `a${ending}`, text }, "a", ending, reading, moment);
}

/** Parses it, requests something of every verb, and checks what must hold of any parsed document. */
function survive(text: string, ending: string): void {
  const agent = read(text, ending);
  for (const verb of CATALOG) judge(agent.authority, { verb, values: verb.axes.map(() => undefined) }, moment);
  for (const { span } of agent.diagnostics) {
    expect(span.start).toBeGreaterThanOrEqual(0);
    expect(span.end).toBeLessThanOrEqual(text.length);
    expect(span.start).toBeLessThanOrEqual(span.end);
  }
  if (agent.refused) expect(agent.grants).toEqual([]);
}

function isWithin(narrow: Agent, wide: Agent): boolean {
  return (
    within(narrow.grants, wide.authority, { protectedPaths: reading.pathSettings.protectedPaths, delegating: false })
      .kind === "within"
  );
}

describe("no text makes parsing throw", () => {
  for (const sample of SAMPLES) {
    test(`a corrupted ${sample.ending} document`, () => {
      expect(read(sample.text, sample.ending).refused).toBe(false);
      fc.assert(
        fc.property(spoiledDocument(sample), (text) => survive(text, sample.ending)),
        { numRuns: runs },
      );
    });
  }

  test("random text in every notation", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.string({ unit: "grapheme", maxLength: 200 }),
      fc.json(),
    );
    fc.assert(
      fc.property(text, fc.constantFrom(...endings), (one, ending) => survive(one, ending)),
      { numRuns: runs },
    );
    fc.assert(
      fc.property(text, (one) => survive(`---\ncapabilities:\n  - ${one}\n---\n`, ".md")),
      { numRuns: runs },
    );
  });

  test("random requests", () => {
    const word = fc.oneof(
      fc.constantFrom(...CATALOG.map((entry) => entry.verb)),
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.webUrl(),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), (words) => void readRequestText(words.join(" "), reading)),
      { numRuns: runs },
    );
  });
});

describe("huge and deep texts are refused, and grant nothing", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["10 MB of text", "x".repeat(10_000_000), ".md"],
    ["10 MB of list", `---\ncapabilities:\n${"  - records.read\n".repeat(600_000)}---\n`, ".md"],
    ["10,000 brackets of YAML", `---\ncapabilities: ${"[".repeat(10_000)}${"]".repeat(10_000)}\n---\n`, ".md"],
    ["10,000 maps of YAML", `---\n${"{a: ".repeat(10_000)}1${"}".repeat(10_000)}\n---\n`, ".md"],
    [
      "10,000 levels of indentation",
      `---\n${Array.from({ length: 1_000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n")}\n---\n`,
      ".md",
    ],
    ["10,000 brackets of JSON", "[".repeat(10_000) + "]".repeat(10_000), ".json"],
    ["10,000 objects of JSON", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`, ".json"],
    ["10,000 brackets of TOML", `a = ${"[".repeat(10_000)}${"]".repeat(10_000)}`, ".toml"],
    [
      "10,000 braces of a compact spec",
      `---\ncapabilities: ['fs.read${"{a=".repeat(10_000)}${"}".repeat(10_000)}']\n---\n`,
      ".md",
    ],
    [
      "aliases that multiply",
      `---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\ncapabilities: [*c]\n---\n`,
      ".md",
    ],
    ["a key written twice", "---\ncapabilities: []\ncapabilities: [records.delete]\n---\n", ".md"],
    ["a key written twice in JSON", `${SAMPLES[3]?.text.slice(0, -1)},"net":"all"}`, ".json"],
  ];
  for (const [title, text, ending] of rows) {
    test(title, () => {
      const agent = read(text, ending);
      expect(agent.diagnostics.some((diagnostic) => diagnostic.severity === "error")).toBe(true);
      expect(agent.grants).toEqual([]);
    });
  }
});

describe("a mistake never widens", () => {
  const original = read(RECORD, ".md");
  const items = RECORD.split("\n").flatMap((line, at) => (line.startsWith("  - ") ? [at] : []));

  test("the original is the baseline", () => {
    expect(original.grants.length).toBeGreaterThanOrEqual(8);
    expect(original.diagnostics).toEqual([]);
    expect(items.length).toBe(7);
  });

  for (const junk of NOT_A_CAPABILITY) {
    test(`${JSON.stringify(junk)} in place of a capability grants nothing`, () => {
      for (const at of items) {
        const text = RECORD.split("\n")
          .with(at, `  - ${/^[{[!]|^(42|null|true)$/.test(junk) ? junk : JSON.stringify(junk)}`)
          .join("\n");
        const agent = read(text, ".md");
        expect(agent.diagnostics.length, text).toBeGreaterThan(0);
        // The replaced line may have narrowed a shorthand; without it the shorthand is back.
        expect(isWithin(agent, read(RECORD.split("\n").toSpliced(at, 1).join("\n"), ".md")), text).toBe(true);
      }
    });
  }

  test("a misspelt verb is not replaced by a shorthand", () => {
    const misspelt = {
      "proc.exec": ["proc.exce", "prox.exec", "procexec", "proc_exec", "Proc.Exec", "exec", "p", "proc", "shell.exec"],
      "fs.write": ["fs.wirte", "fs.wrte", "fswrite", "fs_write", "FS.WRITE", "write", "w"],
    };
    for (const [written, variants] of Object.entries(misspelt)) {
      for (const verb of variants)
        expect(isWithin(read(RECORD.replace(written, verb), ".md"), original), verb).toBe(true);
    }
  });

  test("a scope key that does not exist drops its grant", () => {
    for (const key of [
      "hosts",
      "ports",
      "patterns",
      "root",
      "in",
      "paths",
      "keys",
      "calls",
      "rate",
      "tools",
      "args",
      "ask",
      "range",
    ]) {
      for (const other of [`${key}x`, key.toUpperCase(), `${key}\u200b`, `_${key}`]) {
        const agent = read(
          RECORD.replaceAll(new RegExp(`\\b${key}(?=[:=])`, "g"), other.includes("\u200b") ? `"${other}"` : other),
          ".md",
        );
        expect(isWithin(agent, original), other).toBe(true);
      }
    }
  });

  test("a misspelt key of the record grants nothing by default", () => {
    for (const key of [
      "capabilites",
      "capabilitys",
      "capability",
      "capabilities ",
      "Capabilities",
      "acess",
      "sandbx",
      "extend",
      "polcy",
      "test",
    ]) {
      const agent = read(`---\n${JSON.stringify(key)}: []\n---\n`, ".md");
      expect(
        agent.grants.length === 0 ||
          agent.grants.every((grant) => ["records.read", "tool.invoke"].includes(grant.verb.verb)),
        key,
      ).toBe(true);
    }
    expect(read("---\ncapabilites: []\n---\n", ".md").grants).toEqual([]);
  });
});
