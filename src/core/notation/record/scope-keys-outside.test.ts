// One lost indent must never turn a limited grant into an unlimited one.
import { describe, expect, test } from "vitest";
import { readYaml } from "../../../text/yaml.ts";
import { compactText } from "../printer.ts";
import { READING } from "../testing/notation.ts";
import { type AgentRecord, readRecord } from "./record.ts";

function read(text: string): AgentRecord {
  const { tree } = readYaml({ name: "a.yml", text });
  if (tree === null) throw new Error("not YAML");
  return readRecord(tree, READING);
}

/** Texts that lost an indent, each with the key at the caret. */
const LOST: readonly (readonly [string, string])[] = [
  ["capabilities:\n  - records.update:\nclasses: [note]\n", "classes"],
  ["capabilities:\n  - records.update\nclasses: [note]\n", "classes"],
  ["capabilities:\n  - records.update\n  - classes: [note]\n", "classes"],
  ["capabilities:\n  - records.update\n  - classes=[note]\n", "classes=[note]"],
  ["capabilities:\n  - records.update:\n    classes: [note]\n", "classes"],
  ["capabilities: memory.read, keys=[a]\n", "keys=[a]"],
  ["capabilities:\n  - memory.read:\nkeys: [a]\n", "keys"],
  ["capabilities:\n  - net.get: { hosts: [x.com] }\nask: true\n", "ask"],
  ["capabilities: ['net.get:x.com']\nask: true\n", "ask"],
  ["capabilities:\n  - net.get: { hosts: [x.com] }\nports: [443]\n", "ports"],
  ["capabilities:\n  - fs.write: { in: /p }\npaths: [src/**]\n", "paths"],
  ["capabilities:\n  - tool.invoke: { tools: [send] }\nargs: { amount: { range: [0, 5] } }\n", "args"],
  ["sandbox: /p\ncmds: [git]\n", "cmds"],
  ["access: rw\nclasses: [note]\n", "classes"],
  ["policy: { web: allow }\nhosts: [x.com]\n", "hosts"],
  ["extends: ambit:reader@1\nsandbox: /p\npaths: [docs/**]\n", "paths"],
  ["spec:\n  capabilities: [memory.read]\n", "capabilities"],
  ["spec:\n  capabilities: [memory.read]\nsandbox: /p\n", "capabilities"],
  ["ambit:\n  capabilities: [memory.read]\n", "capabilities"],
];

describe("a scope key outside its grant", () => {
  test.each(LOST)("is an error at the key, and grants nothing: %j", (text, key) => {
    const { grants, diagnostics } = read(text);
    expect(grants.map(compactText)).toEqual([]);
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.map(({ code }) => code)).toEqual(["bad_indentation"]);
    const { start, end } = (errors[0] as (typeof errors)[number]).span;
    expect(text.slice(start, end)).toBe(key);
  });

  test.each([
    // One indent away: the same key where it belongs.
    ["capabilities:\n  - records.update:\n      classes: [note]\n", "records.update{classes=[note]}"],
    // Keys of the record's own, which no grant of it lacks.
    ["capabilities:\n  - records.update: { classes: [note] }\nclasses: [note]\n", "records.update{classes=[note]}"],
    ["capabilities: [memory.read]\ntools: Read, Grep\n", "memory.read"],
    ["capabilities: [memory.read]\nhosts: [x.com]\nid: a\nname: b\n", "memory.read"],
  ])("is none where grants have it or cannot: %j", (text, first) => {
    const { grants, diagnostics } = read(text);
    expect([diagnostics, compactText(grants[0] as (typeof grants)[number])]).toEqual([[], first]);
  });
});
