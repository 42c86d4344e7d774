// The files that init writes parse without diagnostics, pass their own tests, and grant nothing because of what was
// found.
import { describe, expect, test } from "vitest";
import { readConfig } from "../../core/notation/config/config.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { readRecord } from "../../core/notation/record/record.ts";
import type { TreeNode } from "../../core/notation/tree.ts";
import type { Surroundings } from "../../core/ports/surroundings.ts";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { readYaml } from "../../text/yaml.ts";
import { agentFromRecord } from "../project/agent.ts";
import { schemaOf } from "./schema.ts";
import { STARTERS, type StarterFile, starterFiles } from "./starter.ts";
import { firstMismatch, plain } from "./testing/schema.ts";

const reading: Reading = {
  pathSettings: { home: ["home", "ada"], base: ["work", "a b"], protectedPaths: [] },
  toAscii: (host) => host,
  ceiling: null,
};
const moment = { now: 0, clean: true, generation: 0, revoked: null, exhausted: null };

const nothing: Surroundings = { isGit: true, clients: [], servers: [], toolchains: [], sample: null };
const much: Surroundings = {
  isGit: true,
  clients: [{ client: "claude", because: [".claude", "CLAUDE.md"] }],
  servers: [{ name: "two: words", file: ".mcp.json" }],
  toolchains: [
    { name: "node", because: "package.json", keeper: { name: "nvm", folders: ["~/.nvm/versions"] } },
    { name: "go", because: "go.mod", keeper: null },
  ],
  sample: "package.json",
};
const every = STARTERS.map(({ name }) => name);

function fileOf(path: string, found: Surroundings): StarterFile {
  const file = starterFiles(every, found).find((one) => one.path === path);
  if (file === undefined) throw new Error(`${path} is not written`);
  return file;
}

describe.each(every)("%s", (name) => {
  const { path, text } = fileOf(`.ambit/agents/${name}.md`, much);
  const { tree, diagnostics } = readFrontmatter({ name: path, text }).read;

  test("is a record without diagnostics, and its tests pass", () => {
    expect(diagnostics).toEqual([]);
    const agent = agentFromRecord(readRecord(tree as TreeNode, { ...reading, fileId: name }), name, reading, moment);
    expect(agent.diagnostics).toEqual([]);
    expect(agent.tests.length).toBeGreaterThanOrEqual(3);
    expect(agent.tests.filter(({ passed }) => !passed)).toEqual([]);
  });

  test("follows the schema it names", () => {
    expect(firstMismatch(plain(tree as TreeNode), schemaOf("record"))).toBeNull();
    expect(text).toContain("$schema=../schema/record.json");
  });

  test("is the same whatever was found", () => {
    expect(fileOf(path, nothing)).toEqual({ path, text });
  });
});

describe("the configuration", () => {
  test.each([
    ["an empty project", nothing, []],
    ["a project with everything", much, [["home", "ada", ".nvm", "versions"]]],
  ] as const)("of %s parses without diagnostics", (_title, found, runtime) => {
    const { path, text } = fileOf(".ambit/config.yml", found);
    const { tree, diagnostics } = readYaml({ name: path, text });
    expect(diagnostics).toEqual([]);
    const config = readConfig(tree as TreeNode, "project", reading);
    expect(config.diagnostics).toEqual([]);
    expect(config).toMatchObject({ sandbox: ["work", "a b"], policy: null, runtime });
    expect(firstMismatch(plain(tree as TreeNode), schemaOf("config"))).toBeNull();
  });
});

test("only the chosen records are written, beside the configuration and the schemas", () => {
  expect(starterFiles(["reader"], nothing).map(({ path }) => path)).toEqual([
    ".ambit/agents/reader.md",
    ".ambit/config.yml",
    ".ambit/schema/config.json",
    ".ambit/schema/mcp.json",
    ".ambit/schema/record.json",
  ]);
});
