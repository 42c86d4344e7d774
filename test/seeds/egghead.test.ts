// The page about capabilities of agents and their records, from top to bottom.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALLOW, DENY, Walk } from "./walk.ts";

const walk = new Walk();
const grants = (agent: string): readonly string[] =>
  (
    JSON.parse(walk.ambit("agents", "capabilities", agent, "--json").out) as {
      capabilities: readonly { grant: string }[];
    }
  ).capabilities.map(({ grant }) => grant.replaceAll(walk.folder, "."));

beforeAll(() => {
  walk.write({ "src/a.txt": "a\n" });
  walk.record("scout", "id: agents/scout", "sandbox: .", "capabilities: [records.read]");
  walk.record(
    "grants",
    "capabilities:",
    "  - records.read",
    "  - records.update:",
    "      classes: [deliberation, inbox]",
    "  - net.get:",
    '      hosts: ["*.github.com", "api.anthropic.com"]',
    "  - proc.exec:",
    "      in: .",
    "      cmds: [rg, jq, git]",
  );
  walk.record("bare", "capabilities: [records.read, net.get, fs.read, agent.discover]");
  walk.record("any", 'capabilities: [{ net.get: { hosts: ["*"] } }]');
  walk.record("silent", "capabilities: []");
  walk.record("plain", "description: has no capabilities");
  walk.record("boxed", "sandbox: .");
  walk.record("reader", "access: r");
  walk.record("writer", "access: w");
  walk.record("both", "access: rw", "capabilities: [records.read, net.get]");
  walk.record("named", "id: another", "capabilities: [records.read]");
  walk.trust();
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

describe("grant syntax", () => {
  test.each([
    ["a record of any class", "grants", "records.read id=a class=note", "records.delete id=a class=note"],
    ["a class of the list", "grants", "records.update id=a class=inbox", "records.update id=a class=note"],
    ["a host of the list", "grants", "net.get https://api.github.com/", "net.get https://github.org/"],
    ["a program of the list", "grants", "proc.exec in=. -- rg x", "proc.exec in=. -- ls"],
    ["a bare internal verb is everything", "bare", "records.read id=a", "records.create id=a"],
    ["a bare external verb is nothing", "any", "net.get https://example.com/", "net.post https://example.com/"],
  ])("%s", (_, agent, allowed, denied) => {
    expect(walk.can(agent, allowed)).toBe(ALLOW);
    expect(walk.can(agent, denied)).toBe(DENY);
  });
  test("a bare external verb is nothing until it has a scope", () => {
    expect(walk.can("bare", "net.get https://example.com/")).toBe(DENY);
    expect(walk.can("bare", "fs.read src/a.txt")).toBe(DENY);
  });
});

describe("defaults and shorthands", () => {
  test.each([
    ["no capabilities and no access: records.read", "plain", ["records.read"]],
    ["capabilities: [] is nothing", "silent", []],
    ["access: r", "reader", ["records.read"]],
    ["access: w", "writer", ["records.update", "records.create"]],
    [
      "access beside a list, without doubles",
      "both",
      ["net.get{hosts=[]}", "records.update", "records.create", "records.read"],
    ],
    [
      "sandbox: as the page expands it",
      "scout",
      ["fs.write{in=.}", "proc.exec{in=.}", "fs.read{in=.}", "records.read"],
    ],
    [
      "sandbox: alone keeps the default",
      "boxed",
      ["fs.write{in=.}", "proc.exec{in=.}", "fs.read{in=.}", "records.read"],
    ],
  ])("%s", (_, agent, expected) => {
    const held = grants(agent).filter((grant) => !grant.startsWith("tool.invoke"));
    expect(held.toSorted()).toEqual(expected.toSorted());
    expect(held).toHaveLength(expected.length);
  });
  test("held grants come with the consequential ones first", () => {
    const risks = grants("boxed").map((grant) => grant.split("{")[0]);
    expect(risks).toEqual(["fs.write", "proc.exec", "fs.read", "tool.invoke", "records.read"]);
  });
});

describe("`id: agents/scout`, as the page writes it", () => {
  test.each(["scout", "agents/scout"])("every command knows %s", (name) => {
    expect(walk.can(name, "fs.read src/a.txt")).toBe(ALLOW);
    expect(walk.can(name, "net.get https://example.com/")).toBe(DENY);
    expect(walk.call(name, "fs_read", { path: "src/a.txt" }).code).toBe(null);
    expect(walk.call(name, "fs_read", { path: "/etc/passwd" }).code).toBe("scope_violation");
    expect(walk.ambit("log", "--agent", name, "--json").out).toMatch(/"agent":"scout"/);
    expect(walk.ambit("why", "--json").out).toMatch(/"agent":"scout"/);
    expect(walk.ambit("agents", "show", name).status).toBe(0);
    expect(walk.ambit("agents", "grant", name, "net.get{hosts=[example.com]}", "--dry-run").status).toBe(0);
    expect(walk.ambit("stop", name).status).toBe(0);
  });
  test("a delegation to either spelling arrives, and both are found and updated", () => {
    walk.record(
      "lead",
      "sandbox: .",
      "capabilities:",
      "  - agent.grant: { id: agents/scout }",
      "  - agent.update: { ids: [agents/*] }",
      "  - agent.discover",
      "  - memory.read",
      "  - memory.write",
      "  - records.read",
    );
    walk.trust();
    const granted = walk.call("lead", "agent_grant", { agent: "agents/scout", grants: ["memory.write{keys=[a]}"] });
    expect(granted.result).toMatchObject({ agent: "scout" });
    expect(walk.call("scout", "memory_set", { key: "a", value: "1" }).code).toBe(null);
    expect(walk.call("agents/scout", "memory_set", { key: "b", value: "1" }).code).toBe("scope_violation");
    expect(walk.call("lead", "agent_update", { id: "agents/scout", instructions: "Look." }).code).toBe(null);
    expect(walk.read(".ambit/agents/scout.md")).toMatch(/id: agents\/scout[\s\S]*Look\./);
    const found = walk.call("lead", "agent_discover", { can: ["fs.read"] }).result as { agents: { id: string }[] };
    expect(found.agents.map(({ id }) => id)).toContain("scout");
    expect(walk.call("lead", "agent_grant", { agent: "agents/lead", grants: ["memory.read"] }).code).not.toBe(null);
  });
  // Decision 0089: the name of the file is the id.
  test("any other id has no effect, and says so", () => {
    expect(walk.can("named", "records.read id=a")).toBe(ALLOW);
    expect(walk.ambit("can", "another", "records.read", "id=a").status).not.toBe(ALLOW);
    expect(walk.ambit("doctor").out).toMatch(/`id: another` has no effect: the agent is called "named"/);
  });
});

describe("the command line", () => {
  test("an edit leaves no shorthand behind", () => {
    walk.record("edited", "access: rw", "sandbox: .");
    walk.trust();
    expect(
      walk.ambit("agents", "grant", "edited", "net.get{hosts=[*.github.com,api.anthropic.com]}", "--yes").status,
    ).toBe(0);
    const text = walk.read(".ambit/agents/edited.md");
    expect(text).not.toMatch(/access/);
    for (const verb of ["records.read", "records.create", "records.update", "fs.read", "fs.write", "proc.exec"])
      expect(text).toMatch(new RegExp(`- ${verb}\n`));
    expect(walk.ambit("agents", "revoke", "edited", "records.update", "--yes").status).toBe(0);
    expect(walk.can("edited", "records.update id=a class=note")).toBe(DENY);
    expect(walk.can("edited", "records.read id=a class=note")).toBe(ALLOW);
  });
});
