// Revocations on text: the text before, the revoked part, and the exact text afterwards.
import { describe, expect, test } from "vitest";
import { EDIT_CONTEXT, revoke } from "../../../test/edits/edit.ts";
import { type EditResult, editRecord } from "./edit.ts";

type Row = readonly [title: string, before: string, spec: string, after: string];

function head(...lines: readonly string[]): string {
  return `---\n${lines.map((line) => `${line}\n`).join("")}---\n\nBody, with trailing spaces  \n`;
}

function textOf(result: EditResult): string {
  if (result.kind === "edited") return result.text;
  return result.kind === "refused" ? `refused: ${result.message}` : "unchanged";
}

describe("revoke removes that part and no more", () => {
  const rows: readonly Row[] = [
    [
      "a verb: every grant of it, with its lines",
      head(
        "capabilities:",
        "  # web",
        "  - net.get: # two",
        "      hosts: [a.example]",
        "  - records.read",
        "  - net.get{hosts=[b.example]}",
      ),
      "net.get",
      head("capabilities:", "  # web", "  - records.read"),
    ],
    [
      "the last grant leaves an empty list",
      head("capabilities: # all", "  - memory.read"),
      "memory.read",
      head("capabilities: [] # all"),
    ],
    ["the only item between brackets", head("capabilities: [memory.read]"), "memory.read", head("capabilities: []")],
    [
      "the first of a line",
      head("capabilities: [memory.read, obs.query, obs.append]"),
      "memory.read",
      head("capabilities: [obs.query, obs.append]"),
    ],
    [
      "the last of a line",
      head("capabilities: [memory.read, obs.query, obs.append]"),
      "obs.append",
      head("capabilities: [memory.read, obs.query]"),
    ],
    [
      "one between brackets over lines is removed with its comment",
      head("capabilities: [", "  memory.read, # one", "  obs.query, # two", "  obs.append # three", "]"),
      "obs.query",
      head("capabilities: [", "  memory.read, # one", "  obs.append # three", "]"),
    ],
    [
      "an entry of a block list is removed alone",
      head(
        "capabilities:",
        "  - net.get:",
        "      hosts:",
        '        - "*.github.com" # git',
        "        - api.weather.gov # sun",
        "      ports: [443]",
      ),
      "net.get{hosts=[api.weather.gov]}",
      head("capabilities:", "  - net.get:", "      hosts:", '        - "*.github.com" # git', "      ports: [443]"),
    ],
    [
      "an entry of a list in braces",
      head("capabilities:", "  - net.get: { hosts: [ a.example, b.example ], ask: true }"),
      "net.get{hosts=[b.example]}",
      head("capabilities:", "  - net.get: { hosts: [ a.example ], ask: true }"),
    ],
    [
      "an entry of a compact spec, whose root stays as it was written",
      head("capabilities:", '  - "proc.exec{in=~/p,cmds=[git,rg]}"'),
      "proc.exec{cmds=[git]}",
      head("capabilities:", '  - "proc.exec{in=~/p,cmds=[rg]}"'),
    ],
    [
      "programs and patterns are one axis",
      head("capabilities:", '  - proc.exec: { in: /work, cmds: [git], patterns: ["npm test"] }'),
      "proc.exec{cmds=[git]}",
      head("capabilities:", '  - proc.exec: { in: /work, cmds: [], patterns: ["npm test"] }'),
    ],
    [
      "a wider revocation removes the narrower grants",
      head("capabilities: ['net.get{hosts=[a.github.com]}', 'net.get{hosts=[b.example]}']"),
      "net.get{hosts=[*.github.com]}",
      head("capabilities: ['net.get{hosts=[b.example]}']"),
    ],
    [
      "ports can be cut out",
      head("capabilities:", "  - net.connect{hosts=[a.example],ports=[1-100]}"),
      "net.connect{hosts=[a.example],ports=[50]}",
      head("capabilities:", "  - net.connect{hosts=[a.example],ports=[1-49,51-100]}"),
    ],
    [
      "two axes at once leave two grants",
      head("capabilities:", "  - net.get{hosts=[a.example,b.example],ports=[80,443]} # web", "  - obs.query"),
      "net.get{hosts=[a.example],ports=[80]}",
      head(
        "capabilities:",
        "  - net.get{hosts=[b.example],ports=[80,443]} # web",
        "  - net.get{hosts=[a.example],ports=[443]}",
        "  - obs.query",
      ),
    ],
    [
      "a token",
      head("capabilities: ['net.connect:a.example:443', 'net.connect:b.example:443']"),
      "net.connect:a.example:443",
      head("capabilities: ['net.connect:b.example:443']"),
    ],
    [
      "conditions select the grants that are written under them",
      head("capabilities: ['memory.read{keys=[a],ask}', 'memory.read{keys=[a]}']"),
      "memory.read{ask}",
      head("capabilities: ['memory.read{keys=[a]}']"),
    ],
    [
      "one of a line of specs",
      head("capabilities: records.read, net.get{hosts=[a.example]} obs.query"),
      "net.get",
      head('capabilities: "records.read obs.query"'),
    ],
    [
      "a host is removed with its private addresses",
      head("capabilities:", "  - net.get: { hosts: [db.internal, a.example], private: [db.internal=10.0.0.0/8] }"),
      "net.get{hosts=[db.internal]}",
      head("capabilities:", "  - net.get: { hosts: [a.example], private: [db.internal=10.0.0.0/8] }"),
    ],
  ];
  for (const [title, before, spec, after] of rows) {
    test(title, () => expect(textOf(revoke(before, spec))).toBe(after));
  }

  test("revoking a grant that is not held changes nothing", () => {
    expect(revoke(head("capabilities: [records.read]"), "net.get").kind).toBe("unchanged");
    expect(revoke(head("capabilities: ['net.get{hosts=[a.example]}']"), "net.get{hosts=[b.example]}").kind).toBe(
      "unchanged",
    );
  });

  const refusals: readonly (readonly [string, string, string, RegExp])[] = [
    [
      "a name out of a star",
      head("capabilities: ['net.get{hosts=[*.github.com]}']"),
      "net.get{hosts=[api.github.com]}",
      /host.*cannot express/,
    ],
    ["a folder out of a root", head("sandbox: ."), "fs.read{in=secret}", /path.*cannot express/],
    [
      "a built-in tool out of all of them",
      head("capabilities: [records.read]"),
      "tool.invoke{tools=[web_fetch]}",
      /tool.*cannot express/,
    ],
    [
      "two grants from one budget",
      head("capabilities: ['net.get{hosts=[a.x,b.x],ports=[80,443],calls=5}']"),
      "net.get{hosts=[a.x],ports=[80]}",
      /budget/,
    ],
    ["what a policy grants", head("policy: { web: allow }"), "net.get", /policy web/],
    ["a record that cannot be read", "# nothing\n", "net.get", /cannot be parsed/],
    ["an unknown verb", head("id: a"), "net.gett", /not a grant/],
    ["a list written as block text", head("capabilities: |", "  records.read", "  obs.query"), "obs.query", /by hand/],
    [
      "what the record's own tests need",
      head("capabilities: [obs.query, records.read]", "tests: [{ allow: records.read id=x }]"),
      "records.read",
      /own test `allow records\.read id=x` would fail/,
    ],
  ];
  test("refused: what a configuration's policy grants, and what to write instead", () => {
    const org = new Map([
      ["consult", "ask"],
      ["web", "allow"],
    ] as const);
    const policies = { org, agents: new Map([["a", new Map([["web", "ask"]] as const)]]) };
    const context = { ...EDIT_CONTEXT, reading: { ...EDIT_CONTEXT.reading, policies } };
    const source = { name: "a.md", text: head("id: a", "policy: { hire: deny }") };
    const said = (spec: string): string => textOf(editRecord(source, { kind: "revoke", spec }, context));
    expect(said("net.get")).toMatch(/a configuration's `policy web`: write `web: deny` in the record's policy$/);
    expect(said("agent.consult")).toMatch(/a configuration's `policy consult`: write `consult: deny`/);
  });
  for (const [title, before, spec, pattern] of refusals) {
    test(`refused: ${title}`, () => expect(textOf(revoke(before, spec))).toMatch(pattern));
  }
});
