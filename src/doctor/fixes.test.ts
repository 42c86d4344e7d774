// Automatic fixes: the one word, nothing else of the text, and never one that parses worse or widens without consent.
import { describe, expect, test } from "vitest";
import { readAgent } from "../../test/doctor/probe.ts";
import { differenceOf } from "../agents/project/difference.ts";
import type { Diagnostic } from "../core/notation/diagnostic.ts";
import { mend } from "./fixes.ts";

function mended(body: string, mayWiden = true) {
  const text = `---\n${body}\n---\n`;
  const before = readAgent({ name: "a.md", text }, "a");
  const result = mend(
    text,
    (other) => {
      const agent = readAgent({ name: "a.md", text: other }, "a");
      return { diagnostics: agent.diagnostics, widens: differenceOf(before, agent, []).widened.length > 0 };
    },
    mayWiden,
  );
  return { ...result, text: result.text.slice(4, -5) };
}

describe("a fix", () => {
  test.each([
    ["a key of the record", "capabilites: [records.read]", "capabilities: [records.read]"],
    [
      "a verb as a key",
      "capabilities:\n  - net.gte: { hosts: [x.com] } # why",
      "capabilities:\n  - net.get: { hosts: [x.com] } # why",
    ],
    ["a verb in quotes", 'capabilities: ["net.gte{hosts=[x.com]}"]', 'capabilities: ["net.get{hosts=[x.com]}"]'],
    ["a verb in single quotes", "capabilities: ['records.raed']", "capabilities: ['records.read']"],
    [
      "a scope key",
      "capabilities: [{ net.get: { host: [x.com] } }]",
      "capabilities: [{ net.get: { hosts: [x.com] } }]",
    ],
    [
      "a scope key in a quoted spec",
      'capabilities: ["net.get{host=[x.com]}"]',
      'capabilities: ["net.get{hosts=[x.com]}"]',
    ],
    ["the verb of a token", "capabilities: ['memory.raed:a/b']", "capabilities: ['memory.read:a/b']"],
    ["a preset", "extends: ambit:codr@1\nsandbox: /x", "extends: ambit:coder@1\nsandbox: /x"],
    [
      "an old name",
      "sandbox: /x\ncapabilities: [shell.exec: { cmds: [rg] }]",
      "sandbox: /x\ncapabilities: [proc.exec: { cmds: [rg] }]",
    ],
    ["a test's key", "tests: [{ alow: records.read }]", "tests: [{ allow: records.read }]"],
    [
      "first the verb and then its key",
      "capabilities: [net.gte: { host: [x.com] }]",
      "capabilities: [net.get: { hosts: [x.com] }]",
    ],
    ["several on one line", "capabilities: [records.raed, memory.raed]", "capabilities: [records.read, memory.read]"],
    ["a key by another name", "caps: [records.read]", "capabilities: [records.read]"],
  ])("fixes %s", (_what, before, after) => {
    expect(mended(before).text).toBe(after);
  });

  test.each([
    ["a key that exists already", "capabilities: [net.get: { host: [x.com], hosts: [y.com] }]"],
    ["a word without a similar one", "capabilities: [zzz.qqq]"],
    ["a name that is right", "capabilities: [records.read]"],
    ["a comment", "capabilities: [records.read] # records.raed"],
    ["a text that is not YAML", "capabilities: [records.raed"],
    [
      "a spelling whose test would then fail",
      "capabilities: [records.raed]\ntests: [{ deny: records.read }]\naccess: w",
    ],
  ])("leaves %s alone", (_what, text) => {
    expect(mended(text)).toEqual({ text, edits: [], heldBack: [] });
  });

  test("that would widen is withheld unless allowed", () => {
    const text = "sandbox: /x\ncapabilities:\n  - net.gte{hosts=[x.com]}\n  - shell.exec{cmds=[rg]}";
    expect(mended(text, false)).toEqual({
      text: text.replace("shell", "proc"),
      edits: [{ line: 5, was: "shell.exec", now: "proc.exec" }],
      heldBack: [{ line: 4, was: "net.gte", now: "net.get" }],
    });
    expect(mended(text, true).heldBack).toEqual([]);
  });

  test("is one of at most a hundred", { timeout: 60_000 }, () => {
    const many = `capabilities:\n${Array.from({ length: 130 }, () => "  - memory.raed").join("\n")}`;
    expect(mended(many).edits).toHaveLength(100);
  });

  test("parses a long text again only a few times, however many words are wrong in it", () => {
    let rereads = 0;
    const text = `${"x".repeat(1_000_000)}\n${"records.raed ".repeat(1_000)}`;
    const diagnostics = Array.from({ length: 1_000 }, (_, at): Diagnostic => {
      const start = 1_000_001 + at * 13;
      const span = { source: "a.md", start, end: start + 12 };
      return { severity: "error", code: "unknown_verb", message: "", span, suggestion: "records.read", fix: null };
    });
    mend(
      text,
      () => {
        rereads++;
        return { diagnostics, widens: false };
      },
      true,
    );
    expect(rereads).toBeLessThan(10);
  });
});
