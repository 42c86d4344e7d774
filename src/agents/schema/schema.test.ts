// The schemas agree with the parsers about a text: each row is checked by both.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { CATALOG, scopeKeys } from "../../core/authority/catalog.ts";
import { readConfig } from "../../core/notation/config/config.ts";
import { CONFIG_KEYS } from "../../core/notation/config/config-keys.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { PRESETS } from "../../core/notation/record/presets.ts";
import { readRecord } from "../../core/notation/record/record.ts";
import { AUTHORITY_KEYS } from "../../core/notation/record/record-keys.ts";
import { CONDITION_KEYS } from "../../core/notation/scope/conditions.ts";
import { readServerFile, SERVER_KEYS } from "../../core/notation/servers/server-file.ts";
import type { TreeNode } from "../../core/notation/tree.ts";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { readYaml } from "../../text/yaml.ts";
import { SCHEMA_NAMES, schemaOf } from "./schema.ts";
import type { Schema } from "./schema-value.ts";
import { firstMismatch, plain } from "./testing/schema.ts";

const reading: Reading = {
  pathSettings: { home: ["home", "ada"], base: ["work"], protectedPaths: [] },
  toAscii: (host) => host,
  ceiling: null,
};

function treeOf(text: string): TreeNode {
  const { tree } = readYaml({ name: "a.yml", text });
  if (tree === null) throw new Error(`not YAML: ${text}`);
  return tree;
}

const examples = fileURLToPath(new URL("../../../examples/workspace/.ambit/agents/", import.meta.url));
const files = readdirSync(examples).filter((name) => name.endsWith(".md"));

test.each(files)("the example %s follows the schema", (name) => {
  const { tree } = readFrontmatter({ name, text: readFileSync(join(examples, name), "utf8") }).read;
  expect(tree).not.toBeNull();
  expect(firstMismatch(plain(tree as TreeNode), schemaOf("record"))).toBeNull();
});

test("there are examples", () => {
  expect(files.length).toBeGreaterThanOrEqual(3);
});

/** Valid and, one step away, invalid. */
const records: readonly (readonly [good: string, bad: string])[] = [
  ["capabilities: [records.read]", "capabilities: [records.reed]"],
  ["capabilities: []", "capabilities: {}"],
  ["capabilities: records.read memory.read", "capabilities: 5"],
  ["capabilities: [{ net.get: { hosts: [x.example] } }]", "capabilities: [{ net.get: { host: [x.example] } }]"],
  ["capabilities: [{ net.get: { hosts: [x.example] } }]", "capabilities: [{ net.get: { hosts: x.example } }]"],
  ["capabilities: [{ net.get: { hosts: [five.example] } }]", "capabilities: [{ net.get: { hosts: [5] } }]"],
  ["capabilities: [{ net.get: }]", "capabilities: [{ net.get: everything }]"],
  ["capabilities: [{ fs.read: { in: /a } }]", "capabilities: [{ fs.read: { in: [/a] } }]"],
  ["capabilities: [{ fs.read: { in: [] } }]", "capabilities: [{ fs.read: { in: {} } }]"],
  ["capabilities: [{ fs.read: { in: /a, paths: [b] } }]", "capabilities: [{ fs.read: { in: /a, hosts: [b] } }]"],
  ["capabilities: [{ fs.read: }]", "capabilities: [{ fs.read: , fs.write: }]"],
  ["capabilities: ['net.get{hosts=[x.example]}']", "capabilities: ['net.got{hosts=[x.example]}']"],
  ["capabilities: ['net.connect:x.example:443']", "capabilities: ['net.connection:x.example:443']"],
  [
    "capabilities: [{ net.connect: { hosts: [x.example], ports: [443, 8000-8100, '*'] } }]",
    "capabilities: [{ net.connect: { hosts: [x.example], ports: [0] } }]",
  ],
  [
    "capabilities: [{ net.get: { hosts: [x.example], private: [x.example=10.0.0.0/8] } }]",
    "capabilities: [{ net.get: { hosts: [x.example], private: [x.example] } }]",
  ],
  [
    "capabilities: [{ proc.exec: { in: /a, cmds: [git], root: ro } }]",
    "capabilities: [{ proc.exec: { in: /a, cmds: [git], root: /a } }]",
  ],
  ["capabilities: [{ memory.read: { ask: true } }]", "capabilities: [{ memory.read: { ask: yes } }]"],
  ["capabilities: [{ memory.read: { ask: presence } }]", "capabilities: [{ memory.read: { ask: present } }]"],
  ["capabilities: [{ memory.read: { calls: 1 } }]", "capabilities: [{ memory.read: { calls: 0 } }]"],
  ["capabilities: [{ memory.read: { rate: 10/min } }]", "capabilities: [{ memory.read: { rate: 10/m } }]"],
  [
    "capabilities: [{ memory.read: { expires: 2026-12-01T00:00:00Z } }]",
    "capabilities: [{ memory.read: { expires: 2026-12-01 } }]",
  ],
  ["capabilities: [{ memory.read: { pass: use } }]", "capabilities: [{ memory.read: { pass: used } }]"],
  ["capabilities: [{ memory.read: { clean: true } }]", "capabilities: [{ memory.read: { clean: 1 } }]"],
  [
    "capabilities: [{ tool.invoke: { tools: [pay], args: { amount: { range: [0, null] } } } }]",
    "capabilities: [{ tool.invoke: { tools: [pay], args: { amount: { range: [0] } } } }]",
  ],
  [
    "capabilities: [{ tool.invoke: { tools: [pay], args: { to: { values: [a] } }, args_only: true } }]",
    "capabilities: [{ tool.invoke: { tools: [pay], args: { to: { value: [a] } }, args_only: true } }]",
  ],
  [
    "capabilities: [{ tool.invoke: { args: { to: { max_length: 5 } } } }]",
    "capabilities: [{ tool.invoke: { args: { to: { max_length: 5, values: [a] } } } }]",
  ],
  ["capabilities: [{ tool.invoke: { args_only: true } }]", "capabilities: [{ tool.invoke: { args: {} } }]"],
  ["access: rw", "access: wr"],
  ["sandbox: /a", "sandbox: [/a]"],
  ["policy: { web: ask }", "policy: { web: maybe }"],
  ["policy: { web: ask }", "policy: { net: ask }"],
  ["extends: ambit:reader@1", "extends: ambit:reader@9"],
  ["extends: [ambit:reader@1]", "extends: [reader]"],
  ["tests: [{ allow: memory.read a }]", "tests: [{ allowed: memory.read a }]"],
  ["tests: [{ deny: fs.read /a, code: scope_violation }]", "tests: [{ deny: fs.read /a, code: scope_violatoin }]"],
  ["tests: [{ deny: fs.read /a }]", "tests: [{ allow: fs.read /a, code: scope_violation }]"],
  ["tests: [{ deny: fs.read /a }]", "tests: [{ deny: fs.read /a, allow: fs.read /a }]"],
  ["approvers: 2", "approvers: 0"],
  ["approvers: { need: 2, of: [ann, bob] }", "approvers: { of: [ann, bob] }"],
  ["approvers: { need: 1, of: [ann] }", "approvers: { need: 1, of: [an n] }"],
  ["approvers: 1", "approvers: [ann]"],
  ["id: a", "id: 5"],
  ["colour: red\nsandbox: /a", "colour: red\nsandbox: 5"],
];

describe("the schema and the parser agree about a record", () => {
  const errorsOf = (text: string): number =>
    readRecord(treeOf(text), reading).diagnostics.filter(({ severity }) => severity === "error").length;
  test.each(records)("%s | %s", (good, bad) => {
    expect(errorsOf(good)).toBe(0);
    expect(firstMismatch(plain(treeOf(good)), schemaOf("record"))).toBeNull();
    expect(errorsOf(bad)).toBeGreaterThan(0);
    expect(firstMismatch(plain(treeOf(bad)), schemaOf("record"))).not.toBeNull();
  });
});

const configs: readonly (readonly [good: string, bad: string])[] = [
  ["sandbox: /a", "sandbox: 5"],
  ["policy: { code: ask }", "policy: { code: asks }"],
  ["agents: { scout: { web: deny } }", "agents: { scout: deny }"],
  ["runtime: [/usr]", "runtime: /usr"],
  ["mode: enforce", "mode: shadow"],
  ["sandbox: /a", "ceiling: [records.read]"],
  ["sandbox: /a", "sandbx: /a"],
];

describe("the schema and the parser agree about a config", () => {
  test.each(configs)("%s | %s", (good, bad) => {
    expect(readConfig(treeOf(good), "project", reading).broken).toBe(false);
    expect(firstMismatch(plain(treeOf(good)), schemaOf("config"))).toBeNull();
    expect(readConfig(treeOf(bad), "project", reading).broken).toBe(true);
    expect(firstMismatch(plain(treeOf(bad)), schemaOf("config"))).not.toBeNull();
  });

  test.each(["mode: shadow", "ceiling: [records.read]", "control: presence", "bare: true"])(
    "the user may write what a project may not: %s",
    (text) => {
      expect(readConfig(treeOf(text), "user", reading).broken).toBe(false);
      expect(firstMismatch(plain(treeOf(text)), schemaOf("user-config"))).toBeNull();
      expect(firstMismatch(plain(treeOf(text)), schemaOf("config"))).not.toBeNull();
    },
  );
});

/** Valid and, one step away, invalid; both at the level of the file. */
const servers: readonly (readonly [level: "project" | "user", good: string, bad: string])[] = [
  ["project", "servers: { a: { command: [x] } }", "servers: { a: { command: x } }"],
  ["project", "servers: { a: { command: [x] } }", "servers: { a: { command: [] } }"],
  ["project", "servers: { a: { command: [x] } }", "servers: { A: { command: [x] } }"],
  ["project", "servers: { a: { command: [x] } }", "servers: { a: { args: [x] } }"],
  ["project", "servers: { a: { command: [x] } }", "servers: { a: {} }"],
  ["project", "servers: { a: { command: [x] } }", "server: { a: { command: [x] } }"],
  ["project", "servers: { a: { url: 'https://a.example/mcp' } }", "servers: { a: { url: 'ftp://a.example/mcp' } }"],
  [
    "project",
    "servers: { a: { url: 'https://a.example/mcp' } }",
    "servers: { a: { url: 'https://a.example/mcp', command: [x] } }",
  ],
  [
    "project",
    "servers: { a: { command: [x], requires: [{ fs.read: { in: docs } }] } }",
    "servers: { a: { command: [x], requires: [{ fs.reed: { in: docs } }] } }",
  ],
  [
    "project",
    "servers: { a: { command: [x], tools: { read: { fs.read: $.path } } } }",
    "servers: { a: { command: [x], tools: { read: { fs.read: path } } } }",
  ],
  [
    "project",
    "servers: { a: { command: [x], tools: { read: { fs.read: ['$.a[*].b', $.c?] } } } }",
    "servers: { a: { command: [x], tools: { read: { proc.exec: $.a } } } }",
  ],
  ["project", "servers: { a: { command: [x], env: { A: b } } }", "servers: { a: { command: [x], env: [A] } }"],
  ["project", "servers: { a: { command: [x], enabled: false } }", "servers: { a: { command: [x], clean: true } }"],
  ["user", "servers: { a: { command: [x], clean: true } }", "servers: { a: { command: [x], clean: maybe } }"],
  [
    "user",
    "servers: { a: { command: [x], env: { A: { secret: s, reveal: true } } } }",
    "servers: { a: { command: [x], env: { A: { secret: s } } } }",
  ],
];

describe("the schema and the parser agree about MCP servers", () => {
  const errorsOf = (level: "project" | "user", written: string): number =>
    readServerFile(treeOf(written), level, reading).diagnostics.filter(({ severity }) => severity === "error").length;
  test.each(servers)("%s: %s | %s", (level, good, bad) => {
    const schema = schemaOf(level === "user" ? "user-mcp" : "mcp");
    expect(errorsOf(level, good)).toBe(0);
    expect(firstMismatch(plain(treeOf(good)), schema)).toBeNull();
    expect(errorsOf(level, bad)).toBeGreaterThan(0);
    expect(firstMismatch(plain(treeOf(bad)), schema)).not.toBeNull();
  });

  test("it has every key of a server, at its level", () => {
    const keysOf = (name: "mcp" | "user-mcp"): readonly string[] => {
      const { servers: found } = schemaOf(name)["properties"] as Record<string, { additionalProperties: Schema }>;
      const kinds = found?.additionalProperties["anyOf"] as readonly { properties: object }[];
      return [...new Set(kinds.flatMap(({ properties }) => Object.keys(properties)))].sort();
    };
    expect(keysOf("user-mcp")).toEqual([...SERVER_KEYS].sort());
    expect(keysOf("mcp")).toEqual(SERVER_KEYS.filter((key) => key !== "clean").sort());
  });
});

describe("the schemas are complete", () => {
  const text = JSON.stringify(schemaOf("record"));
  test("every verb with its keys, every condition, every preset, every key of a record", () => {
    for (const entry of CATALOG) {
      expect(text).toContain(`"${entry.verb}"`);
      for (const key of scopeKeys(entry)) expect(text).toContain(`"scope-${key}"`);
    }
    for (const key of CONDITION_KEYS) expect(text).toContain(`"condition-${key}"`);
    for (const name of PRESETS.keys()) expect(text).toContain(`"${name}"`);
    const { properties } = schemaOf("record");
    for (const key of AUTHORITY_KEYS) expect(Object.keys(properties as object)).toContain(key);
  });

  test("every key of a configuration, at its level", () => {
    const keysOf = (name: "config" | "user-config"): readonly string[] =>
      Object.keys(schemaOf(name)["properties"] as object).sort();
    expect(keysOf("config")).toEqual([...CONFIG_KEYS.project].sort());
    expect(keysOf("user-config")).toEqual([...CONFIG_KEYS.user].sort());
  });

  test.each(SCHEMA_NAMES)("%s is plain JSON", (name) => {
    expect(JSON.parse(JSON.stringify(schemaOf(name)))).toEqual(schemaOf(name));
  });
});
