// Every fix and every did-you-mean of a record is applied as it is printed: the record then reads without errors, and grants no
// more than its author meant.
import { describe, expect, test } from "vitest";
import { readYaml } from "../../../text/yaml.ts";
import { compile } from "../../authority/compiled.ts";
import type { Grant } from "../../authority/grant.ts";
import { ALWAYS } from "../../authority/link.ts";
import { within } from "../../authority/witness/within.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { compactText } from "../printer.ts";
import { READING } from "../testing/notation.ts";
import type { Entry, TreeNode } from "../tree.ts";
import { type AgentRecord, readRecord } from "./record.ts";

function treeOf(text: string): TreeNode {
  const { tree } = readYaml({ name: "a.yml", text });
  if (tree === null) throw new Error(`not YAML: ${text}`);
  return tree;
}

function entriesOf(node: TreeNode): readonly Entry[] {
  if (node.kind === "scalar") return [];
  if (node.kind === "list") return node.items.flatMap(entriesOf);
  return node.entries.flatMap((entry) => [entry, ...entriesOf(entry.value)]);
}

/** As a person does it: a word for a word, a `key: value` for the entry of that key, a spec for the item. */
function applied(text: string, { fix: printed, suggestion, span }: Diagnostic): string {
  // What follows a `#` is for the reader.
  const fix = printed?.replace(/ +#.*$/, "") ?? null;
  const put = (start: number, end: number, words: string): string => text.slice(0, start) + words + text.slice(end);
  if (fix === null || fix === suggestion) return put(span.start, span.end, suggestion ?? "");
  const key = /^([a-z_]+): /.exec(fix)?.[1];
  if (key === undefined) return put(span.start, span.end, /[{[]/.test(fix) ? `'${fix}'` : fix);
  const around = entriesOf(treeOf(text)).filter(
    (entry) => entry.keySpan.start <= span.start && span.end <= entry.value.span.end,
  );
  // Innermost first; a key that is new goes into the map of the grant it concerns.
  const same = around.toReversed().find((entry) => entry.key === key);
  const place = same ?? around.at(-1);
  if (place === undefined) throw new Error(`no place for ${fix}`);
  if (same !== undefined || key === "extends") return put(place.keySpan.start, place.value.span.end, fix);
  const grant = entriesOf(treeOf(text)).find(
    (entry) => entry.keySpan.start === span.start && entry.value.kind === "map",
  );
  const last = grant === undefined ? place : (entriesOf(grant.value).at(-1) ?? grant);
  return put(last.value.span.end, last.value.span.end, `, ${fix}`);
}

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
    within(grants, [[link]], { protectedPaths: READING.ground.protectedPaths, delegating: false }).kind === "within"
  );
}

describe("a fix as it is printed", () => {
  test.each(MISTAKES)("%s", (written, meant) => {
    const { diagnostics } = readRecord(treeOf(written), READING);
    const [error] = diagnostics.filter(({ severity }) => severity === "error");
    if (error === undefined) throw new Error("no error");
    expect([error.fix, error.suggestion]).not.toEqual([null, null]);
    const text = applied(written, error);
    const after = readRecord(treeOf(text), READING);
    expect([text, after.diagnostics.filter(({ severity }) => severity === "error")]).toEqual([text, []]);
    const wanted = readRecord(treeOf(meant), READING);
    expect([text, isWithin(after.grants, wanted.grants), held(after)]).toEqual([text, true, expect.any(Array)]);
  });

  test.each(INERT)("%s", (written) => {
    const { diagnostics } = readRecord(treeOf(written), READING);
    const [inert] = diagnostics.filter(({ code }) => code === "inert");
    if (inert === undefined) throw new Error("nothing is inert");
    const after = readRecord(treeOf(applied(written, inert)), READING);
    expect(after.diagnostics).toEqual([]);
  });

  test("the check itself sees a fix that grants more", () => {
    const { grants } = readRecord(treeOf("{ access: rw }"), READING);
    expect(isWithin(grants, readRecord(treeOf("{ access: r }"), READING).grants)).toBe(false);
  });
});
