import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Json } from "../../base/json.ts";
import { Diagnostics } from "../diagnostic.ts";
import { compactText } from "../printer.ts";
import { diagnosticLines, READING, treeOf } from "../testing/notation.ts";
import { needGrant, readAllowedTools } from "./allowed-tools.ts";

interface Read {
  readonly needs: readonly string[];
  readonly unknown: readonly string[];
  readonly unreadable: readonly string[];
  readonly diagnostics: Diagnostics;
}

function read(value: Json): Read {
  const diagnostics = new Diagnostics();
  const { tools, unknown, unreadable } = readAllowedTools(treeOf(value, "allowed-tools"), READING, diagnostics);
  const needs = tools.flatMap(({ needs: list }) =>
    list.map((need) => {
      const grant = needGrant(need, ["p"], READING);
      if (need.scope === null) return `some ${need.verb.verb}`;
      return grant === null ? "null" : compactText(grant);
    }),
  );
  return { needs, unknown, unreadable, diagnostics };
}

describe("a tool maps to what it needs", () => {
  it.each<readonly [Json, readonly string[]]>([
    [null, []],
    ["Read", ["some fs.read"]],
    ["Read(*)", ["some fs.read"]],
    ["Read(*.md)", ["fs.read{in=/p,paths=[*.md]}"]],
    ["Read(~/a/{b,c}/*)", ["fs.read{in=/home/u/a,paths=[b/*,c/*]}"]],
    ["Read(~)", ["fs.read{in=/home/u}"]],
    ["Read(/)", ["fs.read{in=/}"]],
    ["Grep,Glob", ["some fs.read", "some fs.read"]],
    ["Edit(a)", ["fs.read{in=/p,paths=[a]}", "fs.write{in=/p,paths=[a]}"]],
    ["Bash", ["proc.exec{in=/p,patterns=[**]}"]],
    ["Bash(npm run test:unit)", ['proc.exec{in=/p,patterns=["npm run test:unit"]}']],
    ["Bash(npm run test:*)", ['proc.exec{in=/p,patterns=["npm run test **"]}']],
    ["Bash(echo $HOME)", ['proc.exec{in=/p,patterns=["echo $HOME"]}']],
    ["Bash(echo $(id))", ["some proc.eval"]],
    ["Bash(a > b)", ["some proc.eval"]],
    ["WebFetch(domain: a.test)", ["net.get{hosts=[a.test]}"]],
    ["WebSearch", ["some net.get", "some net.post"]],
    ["Task", ["some agent.delegate"]],
    ["Agent(x)", ["agent.delegate{id=x}"]],
    ["mcp__a-b__c.d", ["tool.invoke{tools=[a-b__c.d]}"]],
    ["mcp__a__*", ["tool.invoke{tools=[tool:a__*]}"]],
  ])("%j", (value, needs) => {
    const found = read(value);
    expect(diagnosticLines(found.diagnostics)).toEqual([]);
    expect(found.needs).toEqual(needs);
  });
});

describe("an unknown tool is reported, and listed separately", () => {
  it.each<readonly [Json, "unknown" | "unreadable", string]>([
    ["Raed", "unknown", "warning not_understood"],
    ["READ", "unknown", "warning not_understood"],
    ["Read Read(", "unknown", "warning not_understood"],
    ["Bash()", "unreadable", "error bad_value"],
    ["Bash(a 'b)", "unreadable", "error bad_pattern"],
    ["Read(a[b])", "unreadable", "error bad_pattern"],
    ["Read(../a)", "unreadable", "error escapes_root"],
    ["Read(a/../../b)", "unreadable", "error escapes_root"],
    ["WebFetch(a.test)", "unreadable", "error bad_value"],
    ["WebFetch(domain:a.*.test)", "unreadable", "error bad_pattern"],
    ["WebSearch(x)", "unreadable", "error bad_value"],
    ["mcp__", "unreadable", "error bad_value"],
    ["mcp__a__b(c)", "unreadable", "error bad_value"],
    [7, "unreadable", "error wrong_type"],
    [["Read", 7], "unreadable", "error wrong_type"],
    [{ Read: null }, "unreadable", "error wrong_type"],
    [Array.from({ length: 257 }, () => "Read"), "unreadable", "error too_large"],
    [`Bash(${"x".repeat(1024)})`, "unreadable", "error too_large"],
  ])("%j", (value, where, diagnostic) => {
    const found = read(value);
    expect(found[where]).toHaveLength(1);
    expect(found.diagnostics.list.map(({ severity, code }) => `${severity} ${code}`)).toEqual([diagnostic]);
  });

  it.each([
    ["Raed", "Read"],
    ["Bsh(git)", "Bash"],
    ["zzz", null],
  ])("%s: did you mean %s?", (token, suggestion) => {
    expect(read(token).diagnostics.list[0]?.suggestion).toBe(suggestion);
  });
});

test("everything written is needed, unknown or unreadable, and nothing throws", () => {
  const token = fc.oneof(
    fc.string({ unit: "binary", maxLength: 30 }),
    fc
      .tuple(fc.constantFrom("Read", "Bash", "WebFetch", "Task", "mcp__a"), fc.string({ maxLength: 20 }))
      .map(([name, scope]) => `${name}(${scope})`),
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 4 }), (tokens) => {
      const { unreadable, unknown, diagnostics } = read(tokens);
      expect(diagnostics.list.length).toBeGreaterThanOrEqual(Math.max(unknown.length, unreadable.length));
    }),
    { numRuns: 500 },
  );
});
