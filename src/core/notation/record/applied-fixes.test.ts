// Every fix and every did-you-mean of a record is applied as it is printed: the record then reads without errors, and grants no
// more than its author meant.
import { describe, expect, test } from "vitest";
import { compile } from "../../authority/compiled.ts";
import type { Grant } from "../../authority/grant.ts";
import { ALWAYS } from "../../authority/link.ts";
import { within } from "../../authority/witness/within.ts";
import { compactText } from "../printer.ts";
import { applyFix, yamlTree } from "../testing/apply-fix.ts";
import { READING } from "../testing/notation.ts";
import { type AgentRecord, readRecord } from "./record.ts";

/** What was written, and what was meant by it. */
const MISTAKES: readonly (readonly [written: string, meant: string])[] = [
  ["{ access: wr }", "{ access: rw }"],
  ["{ access: RW }", "{ access: rw }"],
  ["{ access: read-write }", "{ access: rw }"],
  ["{ access: read }", "{ access: r }"],
  ["{ access: write }", "{ access: w }"],
  ["{ sandbox: /p, access: wr }", "{ sandbox: /p, access: rw }"],
  [
    "{ sandbox: /p, access: read }",
    "{ sandbox: /p, access: r, capabilities: [fs.read, tool.invoke: { tools: ['builtin:**'] }] }",
  ],
  [
    "{ capabilities: [net.get: { hosts: ['x.com:443'] }] }",
    "{ capabilities: [net.get: { hosts: [x.com], ports: [443] }] }",
  ],
  [
    "{ capabilities: [net.get: { hosts: ['*.x.com:8443'] }] }",
    "{ capabilities: [net.get: { hosts: ['*.x.com'], ports: [8443] }] }",
  ],
  ["{ capabilities: [net.get: { hosts: x.com }] }", "{ capabilities: [net.get: { hosts: [x.com] }] }"],
  ["{ capabilities: [net.get: { host: [x.com] }] }", "{ capabilities: [net.get: { hosts: [x.com] }] }"],
  ["{ capabilities: [net.gte: { hosts: [x.com] }] }", "{ capabilities: [net.get: { hosts: [x.com] }] }"],
  ["{ capabilities: [records.raed] }", "{ capabilities: [records.read] }"],
  ["{ capabilites: [records.read] }", "{ capabilities: [records.read] }"],
  ["{ caps: [records.read] }", "{ capabilities: [records.read] }"],
  ["{ extends: 'ambit:codr@1', sandbox: /p }", "{ extends: 'ambit:coder@1', sandbox: /p }"],
  ["{ capabilities: [memory.read: { ask: maybe }] }", "{ capabilities: [memory.read: { ask: true }] }"],
  ["{ capabilities: [memory.read: { calls: few }] }", "{ capabilities: [memory.read: { calls: 100 }] }"],
  ["{ capabilities: [memory.read: { pass: no }] }", "{ capabilities: [memory.read: { pass: use }] }"],
  [
    "{ capabilities: [proc.exec: { in: /p, cmds: [git], root: read }] }",
    "{ capabilities: [proc.exec: { in: /p, cmds: [git], root: ro }] }",
  ],
  ["{ capabilities: 5 }", "{ capabilities: [] }"],
  ["{ capabilities: [memory.read: { rate: often }] }", "{ capabilities: [memory.read: { rate: 10/min }] }"],
  ["{ capabilities: [memory.read: { rate: 10 }] }", "{ capabilities: [memory.read: { rate: 10/min }] }"],
  ["{ capabilities: [memory.read: { per: user }] }", "{ capabilities: [memory.read: { rate: 10/min, per: user }] }"],
  [
    "{ capabilities: [memory.read: { rate: 10/min, per: head }] }",
    "{ capabilities: [memory.read: { rate: 10/min, per: user }] }",
  ],
  [
    "{ capabilities: [model.use: { providers: [anthropic], tokens: many }] }",
    "{ capabilities: [model.use: { providers: [anthropic], tokens: 2000000 }] }",
  ],
  [
    "{ capabilities: [model.use: { providers: [anthropic], money: much }] }",
    "{ capabilities: [model.use: { providers: [anthropic], money: 2.50 }] }",
  ],
  [
    "{ capabilities: [net.connect: { hosts: [x.com], ports: [http] }] }",
    "{ capabilities: [net.connect: { hosts: [x.com], ports: [8000-8100] }] }",
  ],
  [
    "{ capabilities: [tool.invoke: { tools: [pay], args: { amount: 5 } }] }",
    "{ capabilities: [tool.invoke: { tools: [pay], args: { amount: { values: [a, b] } } }] }",
  ],
  [
    "{ capabilities: [tool.invoke: { tools: [pay], args: { amount: { range: 5 } } }] }",
    "{ capabilities: [tool.invoke: { tools: [pay], args: { amount: { range: [0, 100] } } }] }",
  ],
  [
    "{ capabilities: [tool.invoke: { tools: [pay], args: { amount: { max_length: long } } }] }",
    "{ capabilities: [tool.invoke: { tools: [pay], args: { amount: { max_length: 20 } } }] }",
  ],
  [
    "{ capabilities: [tool.invoke: { tools: [pay], args_only: yes }] }",
    "{ capabilities: [tool.invoke: { tools: [pay], args_only: true }] }",
  ],
  ["{ capabilities: [records.read], tests: 5 }", "{ capabilities: [records.read] }"],
  ["{ capabilities: [records.read], tests: [{ allow: 5 }] }", "{ capabilities: [records.read] }"],
  ["{ capabilities: [records.read], tests: [{ allow: records.read, deny: x }] }", "{ capabilities: [records.read] }"],
  ["{ capabilities: [records.read], land: maybe }", "{ capabilities: [records.read] }"],
  ["{ policy: { web: alow } }", "{ policy: { web: allow } }"],
  [
    "{ capabilities: [net.connect: { hosts: [x.com], ports: [443], raw: maybe }] }",
    "{ capabilities: [net.connect: { hosts: [x.com], ports: [443] }] }",
  ],
  ["{ capabilities: [memory.read: { clean: maybe }] }", "{ capabilities: [memory.read: { clean: true }] }"],
  ["{ capabilities: [agent.grant: { id: 7 }] }", "{ capabilities: [agent.grant: { id: '7' }] }"],
];

/** Fixes that make a grant cover something at all: what they name is an example. */
const INERT: readonly string[] = [
  "{ capabilities: [net.get] }",
  "{ capabilities: [net.connect: { hosts: [x.com] }] }",
  "{ capabilities: [secret.use] }",
];

function held({ grants }: AgentRecord): readonly string[] {
  return grants.map(compactText);
}

function isWithin(grants: readonly Grant[], meant: readonly Grant[]): boolean {
  const link = compile({
    id: "a",
    role: "own",
    issuer: "person",
    holder: "a",
    grants: meant,
    validity: ALWAYS,
    calls: null,
  });
  return (
    within(grants, [[link]], { protectedPaths: READING.pathSettings.protectedPaths, delegating: false }).kind ===
    "within"
  );
}

describe("a fix as it is printed", () => {
  test.each(MISTAKES)("%s", (written, meant) => {
    const { diagnostics } = readRecord(yamlTree(written), READING);
    const [error] = diagnostics.filter(({ severity }) => severity === "error");
    if (error === undefined) throw new Error("no error");
    expect([error.fix, error.suggestion]).not.toEqual([null, null]);
    const text = applyFix(written, error);
    const after = readRecord(yamlTree(text), READING);
    expect([text, after.diagnostics.filter(({ severity }) => severity === "error")]).toEqual([text, []]);
    const wanted = readRecord(yamlTree(meant), READING);
    expect([text, isWithin(after.grants, wanted.grants), held(after)]).toEqual([text, true, expect.any(Array)]);
  });

  test.each(INERT)("%s", (written) => {
    const { diagnostics } = readRecord(yamlTree(written), READING);
    const [inert] = diagnostics.filter(({ code }) => code === "inert");
    if (inert === undefined) throw new Error("nothing is inert");
    const after = readRecord(yamlTree(applyFix(written, inert)), READING);
    expect(after.diagnostics).toEqual([]);
  });

  test("the check itself sees a fix that grants more", () => {
    const { grants } = readRecord(yamlTree("{ access: rw }"), READING);
    expect(isWithin(grants, readRecord(yamlTree("{ access: r }"), READING).grants)).toBe(false);
  });
});
