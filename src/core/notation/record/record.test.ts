import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../base/json.ts";
import { compactText } from "../printer.ts";
import type { Reading } from "../reading.ts";
import { diagnosticLines, READING, treeOf } from "../testing/notation.ts";
import { type AgentRecord, readRecord } from "./record.ts";

const TOOLS = "tool.invoke{tools=[builtin:**]} (default)";

function read(value: Json, reading: Reading = READING): AgentRecord & { readonly texts: string[] } {
  const record = readRecord(treeOf(value), reading);
  return {
    ...record,
    texts: record.grants.map((grant) => `${compactText(grant)}${grant.implied === null ? "" : ` (${grant.implied})`}`),
  };
}

/** Each line: a record, and what it grants; the built-in tools that come with any grant are left out. */
const GRANTS: readonly [Json, string[]][] = [
  [{}, ["records.read (default)"]],
  [{ id: "agents/a", class: "agent", title: "A", tags: [], model: "x" }, ["records.read (default)"]],
  [{ tests: [] }, ["records.read (default)"]],
  [{ mode: "enforce" }, ["records.read (default)"]],
  [{ capabilities: [] }, []],
  [{ capabilities: null }, []],
  [{ capabilities: ["records.create"] }, ["records.create"]],
  [{ access: "r" }, ["records.read (access)"]],
  [{ access: "w" }, ["records.create (access)", "records.update (access)"]],
  [{ access: "rw" }, ["records.read (access)", "records.create (access)", "records.update (access)"]],
  [{ access: "r", capabilities: ["records.read", "net.get"] }, ["records.read", "net.get{hosts=[]}"]],
  [{ access: "xyz", capabilities: ["records.read"] }, ["records.read"]],
  [{ access: "read" }, []],
  [{ access: "" }, []],
  [{ access: null }, []],
  [{ access: "R" }, []],
  [
    { sandbox: "~/p" },
    [
      "records.read (default)",
      "fs.read{in=/home/u/p} (sandbox)",
      "fs.write{in=/home/u/p} (sandbox)",
      "proc.exec{in=/home/u/p} (sandbox)",
    ],
  ],
  [
    { sandbox: "~/p", capabilities: ["records.read"] },
    [
      "records.read",
      "fs.read{in=/home/u/p} (sandbox)",
      "fs.write{in=/home/u/p} (sandbox)",
      "proc.exec{in=/home/u/p} (sandbox)",
    ],
  ],
  [
    { sandbox: "~/p", capabilities: [{ "proc.exec": { cmds: ["rg"] } }] },
    ["proc.exec{in=/home/u/p,cmds=[rg]}", "fs.read{in=/home/u/p} (sandbox)", "fs.write{in=/home/u/p} (sandbox)"],
  ],
  // A mistake in the narrower grant never brings the wider shorthand back.
  [{ sandbox: "/p", capabilities: [{ "proc.exec": { cmdz: ["rg"] } }, "fs.write{paths=[a", "fs.reed{paths=[a]}"] }, []],
  [
    { sandbox: "/p", capabilities: ["shell.exec{cmdz=[rg]}"] },
    ["fs.read{in=/p} (sandbox)", "fs.write{in=/p} (sandbox)"],
  ],
  [{ sandbox: "/p", capabilities: { "proc.exec": { cmds: ["rg"] } } }, []],
  [{ sandbox: "/p", capabilities: [["proc.exec"]] }, []],
  [{ sandbox: "/p", capabilites: [{ "proc.exec": { cmds: ["rg"] } }] }, []],
  [
    { sandbox: "/" },
    ["records.read (default)", "fs.read{in=/} (sandbox)", "fs.write{in=/} (sandbox)", "proc.exec{in=[]} (sandbox)"],
  ],
  // As without the broken key: nothing but the default.
  [{ sandbox: 5 }, ["records.read (default)"]],
  [{ sandbox: "/p", policy: {} }, []],
  // What a broken sandbox would have limited is not granted.
  [{ sandbox: 5, capabilities: ["fs.read{in=/}", "records.read"] }, ["records.read"]],
  [{ sandbox: "/p/*", capabilities: ["fs.read{in=/}", "proc.exec"] }, []],
  [{ sandbx: "/p", capabilities: ["fs.read{in=/}", "records.read"] }, ["records.read"]],
  [
    { sandbox: "/p", capabilities: ["fs.read{in=/p/q}", "fs.write{in=/q}", "proc.exec{in=/p/r}"] },
    ["fs.read{in=/p/q}", "fs.write{in=[]}", "proc.exec{in=/p/r}"],
  ],
  // A key that is nearly one of ours is a mistake, not a key of the record's own.
  [{ capabilites: ["records.create"] }, []],
  [{ acess: "r" }, []],
  [{ extend: "ambit:coder@1" }, []],
  [{ test: [] }, []],
  [{ Capabilities: [] }, []],
  [{ cupboard: true }, ["records.read (default)"]],
  [
    { extends: "ambit:reader@1" },
    [
      "records.read (ambit:reader@1)",
      "fs.read{in=[]} (ambit:reader@1)",
      "tool.invoke{tools=[builtin:**]} (ambit:reader@1)",
    ],
  ],
  [
    { extends: ["ambit:reader@1", "ambit:reader@1"], capabilities: ["obs.append"] },
    [
      "obs.append",
      "records.read (ambit:reader@1)",
      "fs.read{in=[]} (ambit:reader@1)",
      "tool.invoke{tools=[builtin:**]} (ambit:reader@1)",
    ],
  ],
  [{ extends: "ambit:reader@2" }, []],
  [{ extends: null }, []],
  [{ extends: {} }, []],
  [{ capabilities: ["tool.invoke{tools=[]}", "records.read"] }, ["tool.invoke{tools=[]}", "records.read"]],
  [{ policy: { consult: "allow" } }, ["agent.consult (policy consult)"]],
  [{ policy: { consult: "deny" } }, []],
  [{ room: ["a", "agents/b"] }, ["records.read (default)", "obs.append (room)", "obs.query{agents=[a,b]} (room)"]],
  [{ room: [], capabilities: [] }, ["obs.append (room)", "obs.query{agents=[]} (room)"]],
  [{ room: "a", capabilities: [] }, []],
  [{ room: ["a", "*"], capabilities: [] }, []],
  [{ policy: { consult: "alow" } }, []],
];

test.each(GRANTS)("%j grants %j", (value, texts) => {
  expect(read(value).texts.filter((text) => text !== TOOLS)).toEqual(texts);
});

test.each<[Json, boolean]>([
  [{}, true],
  [{ capabilities: ["records.read"] }, true],
  [{ capabilities: [] }, false],
  [{ capabilities: ["tool.invoke"] }, false],
  [{ capabilities: ["records.read", "tool.invoke{toolz=[]}"] }, false],
  [{ capabilities: ["records.read", "tool.invok{tools=[]}"] }, false],
  [{ capabilities: ["records.read", 5] }, false],
  [{ extends: "ambit:reader@1" }, false],
  [{ extends: "ambit:coder@1" }, true],
])("%j gets the built-in tools: %s", (value, expected) => {
  expect(read(value).texts.includes(TOOLS)).toBe(expected);
});

test.each<[Json, string[]]>([
  [null, ["error wrong_type "]],
  ["capabilities: [records.read]", ["error wrong_type "]],
  [[{ capabilities: ["records.read"] }], ["error wrong_type "]],
])("%j is not a record, and grants nothing", (value, places) => {
  const record = read(value);
  expect(record.grants).toEqual([]);
  expect(diagnosticLines(record.diagnostics)).toEqual(places);
});

test.each<[Json, string[]]>([
  [{ capabilites: [] }, ["error unknown_key capabilites:"]],
  [{ room: "shared", capabilities: ["memory.read"] }, ["warning wrong_type room"]],
  [{ rooms: ["scout"], capabilities: ["memory.read"] }, ["warning unknown_key rooms:"]],
  [{ room: 5, capabilities: ["memory.read"] }, ["error wrong_type room"]],
  [{ room: ["*"], capabilities: ["memory.read"] }, ["error bad_value room[0]"]],
  [{ room: ["a", 5], capabilities: ["memory.read"] }, ["error wrong_type room[1]"]],
  [{ access: "x" }, ["error bad_value access"]],
  [{ sandbox: 5 }, ["error wrong_type sandbox"]],
  [{ sandbox: "/p/*" }, ["error bad_pattern sandbox"]],
  [{ extends: "ambit:code@1" }, ["error unknown_preset extends"]],
  [{ id: 5 }, ["error wrong_type id"]],
  [{ policy: [] }, ["error wrong_type policy"]],
  [{ tests: {} }, ["error wrong_type tests"]],
])("%j has a diagnostic at its position", (value, places) => {
  expect(diagnosticLines(read(value).diagnostics)).toEqual(places);
});

const HELD_BY_SANDBOX = "`sandbox` still grants fs.read, fs.write, proc.exec";

test.each<[Json, string, string]>([
  [{ access: "ro" }, "`access` is about records, and is r, w or rw", "access: r"],
  [{ access: "ro", sandbox: "/p" }, HELD_BY_SANDBOX, "extends: ambit:reader@1"],
  [{ access: "rwx", sandbox: "/p", capabilities: ["fs.read"] }, "still grants fs.write, proc.exec", "ambit:reader@1"],
  [{ access: "ro", sandbox: "/p", extends: "ambit:coder@1" }, "and is r, w or rw", "access: r"],
  [{ access: "ro", sandbox: "/p", policy: {} }, "and is r, w or rw", "access: r"],
])("%j: what access covers, and what it does not limit", (value, words, fix) => {
  const [told] = read(value).diagnostics;
  expect(told?.message).toContain(words);
  expect(told?.message.includes("sandbox")).toBe(words.includes("still grants"));
  expect(told?.fix).toContain(fix);
});

test("the fix for read-only files makes them read-only, and a list of fs.read alone does not", () => {
  const written = read({ sandbox: "/p", access: "ro" }).diagnostics[0]?.fix ?? "";
  const preset = /^extends: (\S+)/.exec(written)?.[1] ?? "";
  const verbs = (value: Json): string[] => read(value).grants.map(({ verb }) => verb.verb);
  expect(verbs({ sandbox: "/p", extends: preset })).toEqual(["records.read", "fs.read", "tool.invoke"]);
  expect(verbs({ sandbox: "/p", capabilities: ["fs.read"] })).toContain("fs.write");
});

const NO_FILES =
  "until it is fixed, `sandbox` adds no fs.read, no fs.write, no proc.exec, and no built-in tools are added";

test.each<[Json, string, string | null]>([
  [{ sandbox: "/p", capabilities: ["records.*"] }, "unknown_verb", NO_FILES],
  [{ sandbox: "/p", capabilities: ["fs.reed", "records.*"] }, "unknown_verb", "adds no fs.write, no proc.exec, and"],
  [{ sandbox: "/p", capabilities: [5] }, "wrong_type", NO_FILES],
  [{ sandbox: "/p", capabilities: {} }, "wrong_type", NO_FILES],
  [{ sandbox: "/p", capabilites: ["records.read"] }, "unknown_key", NO_FILES],
  [{ capabilities: ["records.read", "records.*"] }, "unknown_verb", "; until it is fixed, no built-in tools are added"],
  [{ capabilities: ["records.read", "tool.invoke", "records.*"] }, "unknown_verb", null],
  [{ capabilities: ["records.*"] }, "unknown_verb", null],
  [{ sandbox: "/p", extends: "ambit:reader@1", capabilities: ["records.*"] }, "unknown_verb", null],
  [{ sandbox: "/p", capabilities: ["fs.read{inn=/p}"] }, "unknown_key", null],
])("%j says at its mistake what is not added because of it", (value, code, words) => {
  const said = read(value).diagnostics.map((one) => [one.code, one.message] as const);
  const about = said.filter(([, message]) => message.includes("until it is fixed"));
  expect(said[0]?.[0]).toBe(code);
  expect(about.length).toBe(words === null ? 0 : 1);
  if (words !== null) expect(said[0]?.[1]).toContain(words);
});

test("an unknown preset and a misspelled key are answered with the nearest", () => {
  expect(read({ extends: "ambit:coder" }).diagnostics[0]?.suggestion).toBe("ambit:coder@2");
  expect(read({ capabilites: [] }).diagnostics[0]?.suggestion).toBe("capabilities");
});

const CEILING: Reading = { ...READING, ceiling: ["home", "u", "work"] };

test("a sandbox outside the ceiling becomes the ceiling, with a warning; one inside stays", () => {
  const outside = read({ sandbox: "~/p" }, CEILING);
  expect(outside.sandbox).toEqual(["home", "u", "work"]);
  expect(diagnosticLines(outside.diagnostics)).toEqual(["warning clamped sandbox"]);
  expect(outside.texts).toContain("fs.read{in=/home/u/work} (sandbox)");
  const inside = read({ sandbox: "~/work/p" }, CEILING);
  expect(inside.sandbox).toEqual(["home", "u", "work", "p"]);
  expect(diagnosticLines(inside.diagnostics)).toEqual([]);
  expect(read({ sandbox: "~" }, CEILING).sandbox).toEqual(["home", "u", "work"]);
  expect(read({ sandbox: "~/works" }, CEILING).sandbox).toEqual(["home", "u", "work"]);
});

test("without a sandbox the ceiling is the root; without either there is none", () => {
  expect(read({ capabilities: ["fs.read"] }, CEILING).texts[0]).toBe("fs.read{in=/home/u/work}");
  expect(read({ capabilities: ["fs.read{in=/etc}"] }, CEILING).texts[0]).toBe("fs.read{in=[]}");
  expect(read({ capabilities: ["fs.read"] }).texts[0]).toBe("fs.read{in=[]}");
  expect(diagnosticLines(read({ capabilities: ["fs.read"] }).diagnostics)).toEqual(["warning inert capabilities[0]"]);
});

test("an invalid policy denies, so that no outer table applies to it", () => {
  expect(read({ policy: { web: "alow" } }).policy?.get("web")).toBe("deny");
  expect(read({ polcy: { web: "deny" } }).policy?.get("web")).toBe("deny");
  expect(read({ policy: { web: "allow" } }).policy?.get("web")).toBe("allow");
  expect(read({}).policy).toBeNull();
});

test("id and class are the record's own", () => {
  const record = read({ id: "agents/scout", class: "agent" });
  expect([record.id, record.recordClass]).toEqual(["scout", "agent"]);
});

test.each<[Json, { readonly outcome: string; readonly request: string; readonly code: string | null }]>([
  [
    { allow: "net.get https://api.github.com/x" },
    { outcome: "allow", request: "net.get https://api.github.com/x", code: null },
  ],
  [{ ask: "proc.exec -- rm x" }, { outcome: "ask", request: "proc.exec -- rm x", code: null }],
  [{ deny: "fs.read /etc/passwd" }, { outcome: "deny", request: "fs.read /etc/passwd", code: null }],
  [
    { deny: "fs.read /etc/passwd", code: "scope_violation" },
    { outcome: "deny", request: "fs.read /etc/passwd", code: "scope_violation" },
  ],
])("%j is a test", (row, expected) => {
  const record = read({ tests: [row] });
  expect(diagnosticLines(record.diagnostics)).toEqual([]);
  expect(record.tests).toMatchObject([expected]);
});

test.each<[Json, string]>([
  ["allow fs.read /x", "wrong_type tests[0]"],
  [{}, "missing_field tests[0]"],
  [{ allow: "a", deny: "b" }, "missing_field tests[0]"],
  [{ allow: "" }, "wrong_type tests[0].allow"],
  [{ allow: 5 }, "wrong_type tests[0].allow"],
  [{ allow: { "net.get": "x" } }, "wrong_type tests[0].allow"],
  [{ alow: "fs.read /x" }, "unknown_key tests[0].alow:"],
  [{ deny: "fs.read /x", code: "scope_violatiom" }, "bad_value tests[0].code"],
  [{ allow: "fs.read /x", code: "scope_violation" }, "bad_value tests[0].code:"],
])("%j has a diagnostic, and stays as a test that can never pass", (row, place) => {
  const record = read({ tests: [row] });
  expect(diagnosticLines(record.diagnostics)).toEqual([`error ${place}`]);
  expect(record.tests).toMatchObject([{ outcome: "allow", request: "" }]);
});

test("tests under a misspelled key, or not in a list, cannot pass", () => {
  expect(read({ test: [{ allow: "fs.read /x" }] }).tests).toMatchObject([{ request: "" }]);
  expect(read({ tests: "all of them" }).tests).toMatchObject([{ request: "" }]);
});

// What `access`, `sandbox` and `capabilities: <word>` can grant; no random text grants more than these.
const SHORTHAND = [
  ...["records.read", "records.create", "records.update", "records.delete"],
  ...["tool.invoke", "fs.read", "fs.write", "proc.exec"],
];

test("no tree makes the parser throw", () => {
  const key = fc.constantFrom(
    "capabilities",
    "access",
    "sandbox",
    "policy",
    "extends",
    "tests",
    "mode",
    "id",
    "class",
    "capabilites",
    "__proto__",
  );
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.dictionary(key, fc.jsonValue())),
      fc.constantFrom(READING, CEILING),
      (value, reading) => {
        const record = read(value as Json, reading);
        for (const { verb } of record.grants) expect(SHORTHAND).toContain(verb.verb);
      },
    ),
    { numRuns: 500 },
  );
});
