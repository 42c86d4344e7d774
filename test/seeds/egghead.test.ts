// The page about capabilities of agents and their records, from top to bottom.
import { spawnSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
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
    expect(walk.ambit("doctor").out).toMatch(/`id: another` has no effect: the file name makes the agent's id "named"/);
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

describe("what does not count is told", () => {
  test("`deny` in a record is an error that points to `policy`", () => {
    walk.record("denier", "capabilities: [records.read]", "deny: [records.read]");
    walk.trust();
    expect(walk.ambit("agents", "show", "denier").err).toMatch(/unknown key `deny`[\s\S]*did you mean policy/);
    rmSync(join(walk.folder, ".ambit/agents/denier.md"));
  });
  test("a file by another spelling of an id is listed without that agent's capabilities", () => {
    walk.record("nil", "capabilities: [memory.read]");
    walk.record("agents/nil", "capabilities: [memory.write]");
    walk.trust();
    const { agents } = JSON.parse(walk.ambit("agents", "list", "--json").out) as { agents: readonly { id: string }[] };
    expect(agents.find(({ id }) => id === "agents/nil")).toEqual({
      id: "agents/nil",
      error: expect.stringContaining("another spelling of nil"),
    });
    rmSync(join(walk.folder, ".ambit/agents/agents"), { recursive: true });
  });
});

describe("attenuation", () => {
  beforeAll(() => {
    walk.record(
      "granter",
      "capabilities:",
      "  - agent.grant",
      "  - agent.create",
      "  - agent.delete: { ids: [kept, made, other] }",
      '  - net.get: { hosts: ["*.github.com"] }',
      "  - memory.read",
      "  - obs.query: { agents: [receiver] }",
    );
    walk.record("receiver", "capabilities: [records.read]");
    walk.record("other", "capabilities: [records.read]");
    walk.trust();
  });
  const grant = (input: object): ReturnType<Walk["call"]> => walk.call("granter", "agent_grant", input);

  test("an agent cannot widen itself, nor pass on more than it holds", () => {
    expect(grant({ agent: "granter", grants: ["memory.read"] }).code).toBe("self_modification");
    expect(grant({ agent: "receiver", grants: ["net.get{hosts=[*]}"] }).code).toBe("exceeds_grantor_authority");
    expect(grant({ agent: "receiver", grants: ["net.get{hosts=[github.com]}"] }).code).toBe(null);
    expect(walk.can("receiver", "net.get https://github.com/")).toBe(ALLOW);
  });
  test("with `write` the other's record says it, and a person's trust makes it so", () => {
    const written = grant({ agent: "agents/receiver", grants: ["memory.read{keys=[a]}"], write: true });
    expect(written.result).toMatchObject({ agent: "receiver", record: ".ambit/agents/receiver.md" });
    expect(walk.read(".ambit/agents/receiver.md")).toContain("memory.read{keys=[a]}");
    expect(walk.can("receiver", "memory.read a")).not.toBe(ALLOW);
    walk.trust();
    expect(walk.can("receiver", "memory.read a")).toBe(ALLOW);
    expect(walk.can("receiver", "memory.read b")).toBe(DENY);
    const more = grant({ agent: "receiver", grants: ["memory.write"], write: true });
    expect(more.code).toBe("exceeds_grantor_authority");
    expect(walk.read(".ambit/agents/receiver.md")).not.toContain("memory.write");
  });
  test("an agent made by an agent can be kept as a record", () => {
    const input = { id: "kept", instructions: "Look things up.", grants: ["memory.read"], write: true };
    expect(walk.call("granter", "agent_create", input).result).toMatchObject({ record: ".ambit/agents/kept.md" });
    expect(walk.read(".ambit/agents/kept.md")).toMatch(/- memory\.read\n[\s\S]*Look things up\./);
    expect(walk.call("kept", "memory_get", { key: "a" }).code).toBe("untrusted_policy");
    walk.trust();
    expect(walk.call("kept", "memory_get", { key: "a" }).code).toBe(null);
    expect(walk.can("kept", "memory.write a")).toBe(DENY);
  });
  test("a person keeps an agent that an agent made: `agents keep`", () => {
    const input = { id: "lasting", instructions: "Look things up.", grants: ["memory.read{keys=[a]}"] };
    walk.call("granter", "agent_create", input);
    expect(walk.ambit("agents", "keep", "lasting").status).toBe(2);
    expect(walk.ambit("agents", "keep", "lasting", "--dry-run").out).toContain("memory.read{keys=[a]}");
    expect(walk.exists(".ambit/agents/lasting.md")).toBe(false);
    expect(walk.ambit("agents", "keep", "lasting", "--yes").status).toBe(0);
    expect(walk.read(".ambit/agents/lasting.md")).toMatch(/memory\.read\{keys=\[a\]\}[\s\S]*Look things up\./);
    // What a person confirms is trusted as it is written, and stays when its maker goes.
    walk.ambit("stop", "granter");
    expect(walk.call("lasting", "memory_get", { key: "a" }).code).toBe(null);
    expect(walk.call("lasting", "memory_get", { key: "b" }).code).toBe("scope_violation");
    expect(walk.ambit("agents", "keep", "lasting", "--yes").err).toContain("lasting already has a record");
    expect(walk.ambit("agents", "keep", "never-made", "--yes").status).toBe(1);
  });
  test("an agent whose grants have a budget or an end is not kept with more", () => {
    const made = (id: string, more: object): void =>
      void walk.call("granter", "agent_create", { id, instructions: "x", grants: ["memory.read{keys=[a]}"], ...more });
    made("few", { calls: 2 });
    expect(walk.ambit("agents", "keep", "few", "--yes").err).toContain("have a budget");
    made("short", { seconds: 3600 });
    expect(walk.ambit("agents", "keep", "short", "--yes").status).toBe(0);
    expect(walk.read(".ambit/agents/short.md")).toMatch(/expires=\S+Z\}/);
    expect(walk.exists(".ambit/agents/few.md")).toBe(false);
    walk.trust();
  });
  test("a person writes a grant into a record with `--write`, and it waits for trust", () => {
    walk.record("plain", "capabilities: [records.read]");
    walk.trust();
    expect(walk.ambit("agents", "grant", "plain", "memory.read{keys=[a]}", "--write", "--yes").out).toContain(
      "no effect until you trust it: ambit trust",
    );
    expect(walk.read(".ambit/agents/plain.md")).toContain("memory.read{keys=[a]}");
    expect(walk.can("plain", "memory.read a")).not.toBe(ALLOW);
    walk.trust();
    expect(walk.can("plain", "memory.read a")).toBe(ALLOW);
  });
  test("what is written has the limits that were asked for", () => {
    const input = { id: "brief", instructions: "x", grants: ["memory.read{keys=[a]}"], calls: 1, seconds: 60 };
    walk.call("granter", "agent_create", { ...input, write: true });
    expect(walk.read(".ambit/agents/brief.md")).toMatch(/- "?memory\.read\{keys=\[a\],calls=1,expires=\S+Z\}/);
    grant({ agent: "other", grants: ["memory.read{keys=[b]}"], calls: 2, write: true });
    expect(walk.read(".ambit/agents/other.md")).toMatch(/memory\.read\{keys=\[b\],calls=2\}/);
    walk.trust();
    // One budget: the record's. There is no delegation beside it.
    expect(walk.call("brief", "memory_get", { key: "a" }).code).toBe(null);
    expect(walk.call("brief", "memory_get", { key: "a" }).code).toBe("budget_exhausted");
    expect(walk.ambit("agents", "tree").out).not.toContain("-> brief");
  });
  test.each(["net.post{hosts=[a.example]}", "net.post{hosts=[a.example],calls=1}", "net.put{hosts=[a.example]}"])(
    "%s of a budget or a rate is delegated, and not written",
    (spec) => {
      walk.record(
        "counted",
        "capabilities:",
        "  - agent.grant",
        "  - agent.create",
        "  - memory.read",
        "  - net.post: { hosts: [a.example], calls: 3 }",
        "  - net.put: { hosts: [a.example], rate: 3/min }",
      );
      walk.record("target", "capabilities: [records.read]");
      walk.trust();
      const before = walk.read(".ambit/agents/target.md");
      const input = { agent: "target", grants: [spec] };
      expect(walk.call("counted", "agent_grant", { ...input, write: true }).code).toBe("exceeds_grantor_authority");
      const made = { id: "made-of-counted", instructions: "x", grants: [spec], write: true };
      expect(walk.call("counted", "agent_create", made).code).toBe("exceeds_grantor_authority");
      expect(walk.exists(".ambit/agents/made-of-counted.md")).toBe(false);
      expect(walk.read(".ambit/agents/target.md")).toBe(before);
      expect(walk.call("counted", "agent_grant", input).code).toBe(null);
      const plain = { agent: "target", grants: ["memory.read"], write: true };
      expect(walk.call("counted", "agent_grant", plain).code).toBe(null);
    },
  );
  test("what was delegated with a budget or an end cannot be written either", () => {
    walk.record("middle", "capabilities: [records.read, agent.grant]");
    walk.record("last", "capabilities: [records.read]");
    walk.trust();
    grant({ agent: "middle", grants: ["memory.read{keys=[a]}"], seconds: 3600 });
    grant({ agent: "middle", grants: ["memory.read{keys=[b]}"], calls: 5 });
    for (const key of ["a", "b"]) {
      const input = { agent: "last", grants: [`memory.read{keys=[${key}]}`] };
      expect(walk.call("middle", "agent_grant", { ...input, write: true }).code).toBe("exceeds_grantor_authority");
      expect(walk.call("middle", "agent_grant", input).code).toBe(null);
    }
    expect(walk.read(".ambit/agents/last.md")).not.toContain("memory");
  });
  test.each(["team/late.md", "team/late.MD", "late.yml", "team/late.yaml", "late.json", "late.toml"])(
    "%s is the name of a file and no agent's id",
    (id) => {
      const text = "---\nclass: agent\ncapabilities: [records.read]\n---\n";
      walk.write({ [id]: text, [`.ambit/agents/${id}.md`]: text });
      const given = { grants: ["memory.read"], write: true };
      expect(grant({ agent: id, ...given }).code).toBe("invalid_input");
      expect(walk.call("granter", "agent_create", { id, instructions: "x", ...given }).code).toBe("invalid_input");
      expect(walk.call("granter", "agent_delete", { id }).code).toBe("invalid_input");
      expect([walk.read(id), walk.read(`.ambit/agents/${id}.md`)]).toEqual([text, text]);
      rmSync(join(walk.folder, `.ambit/agents/${id}.md`));
    },
  );
  test("an id with a dot names the record, and never a file of the project", () => {
    walk.record("team/late.v2", "capabilities: [records.read]");
    walk.write({ "team/late.v2": "---\nclass: agent\ncapabilities: [records.read]\n---\n" });
    walk.trust();
    const before = walk.read("team/late.v2");
    const input = { agent: "team/late.v2", grants: ["memory.read"], write: true };
    expect(grant(input).result).toMatchObject({ record: ".ambit/agents/team/late.v2.md" });
    expect(walk.read("team/late.v2")).toBe(before);
    expect(walk.read(".ambit/agents/team/late.v2.md")).toContain("memory.read");
  });
  test("a new record is never written through a link", () => {
    walk.write({ ".claude/commands/old.md": "old\n", "elsewhere/old.md": "old\n" });
    symlinkSync("../../.claude/commands", join(walk.folder, ".ambit/agents/c"));
    symlinkSync("../../elsewhere/none.md", join(walk.folder, ".ambit/agents/dangling.md"));
    for (const id of ["c/deploy", "c/deep/deploy", "dangling"]) {
      const input = { id, instructions: "x", grants: ["memory.read"], write: true };
      expect(walk.call("granter", "agent_create", input).code).toBe("not_available");
      expect(walk.call(id, "memory_get", { key: "a" }).code).toBe("unknown_agent");
    }
    expect(walk.exists(".claude/commands/deploy.md")).toBe(false);
    expect(walk.exists(".claude/commands/deep")).toBe(false);
    expect(walk.exists("elsewhere/none.md")).toBe(false);
    for (const name of ["c", "dangling.md"]) rmSync(join(walk.folder, ".ambit/agents", name));
  });
  test("agent.delete ends agents of its scope, and never itself", () => {
    walk.call("granter", "agent_create", { id: "made", instructions: "x", grants: ["memory.read"] });
    expect(walk.call("made", "memory_get", { key: "a" }).code).toBe(null);
    expect(walk.call("granter", "agent_delete", { id: "made" }).code).toBe(null);
    expect(walk.ambit("call", "made", "memory_get", '{"key": "a"}').status).not.toBe(0);
    expect(walk.call("granter", "agent_delete", { id: "agents/other" }).code).toBe(null);
    expect(walk.ambit("agents", "show", "other").status).not.toBe(0);
    expect(walk.ambit("agents", "undo", "other", "--yes").status).toBe(0);
    expect(walk.ambit("agents", "show", "other").status).toBe(0);
    expect(walk.call("granter", "agent_delete", { id: "receiver" }).code).toBe("scope_violation");
    expect(walk.call("granter", "agent_delete", { id: "granter" }).code).toBe("self_modification");
  });
  test("a denial is read by agents whose record names its agent", () => {
    walk.call("receiver", "memory_set", { key: "x", value: "1" });
    const seen = walk.call("granter", "obs_query", { agent: "agents/receiver", tag: "denial" });
    expect(JSON.stringify(seen.result)).toMatch(/memory\.write/);
    expect(walk.call("granter", "obs_query", { agent: "scout" }).code).toBe("scope_violation");
  });
});

describe("a room of several agents", () => {
  const texts = (agent: string, input: object): readonly string[] =>
    (walk.call(agent, "obs_query", input).result as { agent: string; text: string }[]).map(
      (one) => `${one.agent}: ${one.text}`,
    );
  beforeAll(() => {
    walk.record("left", "room: [left, right]", "capabilities: [memory.read]");
    walk.record("right", "room: [left, agents/right]", "capabilities: []");
    walk.record("outside", "room: war-room", "capabilities: [memory.read]");
    walk.trust();
  });

  test("agents whose records name each other share notes and denials", () => {
    expect(walk.call("left", "obs_append", { text: "the shop is open" }).code).toBe(null);
    expect(walk.call("left", "memory_set", { key: "x", value: "1" }).code).toBe("capability_absent");
    expect(walk.call("right", "obs_append", { text: "seen" }).code).toBe(null);
    const both = texts("right", { agents: ["left", "right"] });
    expect(both).toEqual(texts("left", { agents: ["agents/left", "right", "left"] }));
    expect(both[0]).toBe("right: seen");
    expect(both.at(-1)).toBe("left: the shop is open");
    expect(both.filter((text) => text.startsWith("left: ") && text.includes("memory.write"))).toHaveLength(1);
  });
  test("one agent more in the list than the record names is one too many", () => {
    for (const agents of [["left", "outside"], ["left", "Right"], ["*"]])
      expect([agents, walk.call("right", "obs_query", { agents }).code]).not.toEqual([agents, null]);
    expect(walk.call("right", "obs_query", { agents: [] }).code).toBe("invalid_input");
    expect(walk.call("right", "obs_query", { agents: ["left"], agent: "outside" }).code).toBe("invalid_input");
    expect(walk.call("left", "obs_query", { agent: "outside" }).code).toBe("scope_violation");
  });
  test("a room by a name of its own has no effect, and says what to write", () => {
    expect(walk.call("outside", "obs_query", { agent: "left" }).code).toBe("capability_absent");
    expect(walk.ambit("doctor").out).toMatch(
      /`room` has no effect: it is a list of the agents[\s\S]*room: \[war-room\]/,
    );
  });
  test("an edit writes the room out, and the first listing shows it", () => {
    expect(walk.ambit("agents", "capabilities", "left").out).toMatch(/obs\.query.*left.*right/);
    expect(walk.ambit("agents", "grant", "left", "memory.write", "--yes").status).toBe(0);
    const text = walk.read(".ambit/agents/left.md");
    expect(text).not.toMatch(/room/);
    expect(text).toContain("obs.query{agents=[left,right]}");
    expect(walk.call("left", "obs_query", { agents: ["left", "right"] }).code).toBe(null);
    expect(walk.call("left", "obs_query", { agents: ["outside"] }).code).toBe("scope_violation");
  });
});

describe("denial codes", () => {
  test.each([
    ["capability_absent", "receiver", "fs_read", { path: "a" }],
    ["scope_violation", "granter", "agent_delete", { id: "scout" }],
    ["unknown_tool", "granter", "no_such_tool", {}],
  ])("%s", (code, agent, tool, input) => {
    expect(walk.call(agent, tool, input).code).toBe(code);
  });
});

describe("skills", () => {
  const skill = (tools: string): string =>
    `---\nname: pages\ndescription: Reads pages of a site.\nallowed-tools: ${tools}\n---\n\nFetch the page first.\n`;
  beforeAll(() => {
    walk.write({ ".ambit/skills/pages/SKILL.md": skill("WebFetch(domain:github.com)") });
    walk.record("web", 'capabilities: [{ net.get: { hosts: ["*.github.com"] } }]');
    walk.trust();
  });
  const names = (agent: string): readonly string[] =>
    (walk.call(agent, "skills_list").result as { skills: { name: string }[] }).skills.map(({ name }) => name);

  test("an agent sees the skills that its grants satisfy, and no word of others", () => {
    expect(names("web")).toEqual(["pages"]);
    expect(names("scout")).toEqual([]);
    expect(walk.call("web", "skills_read", { name: "pages" }).result).toMatchObject({ text: "Fetch the page first." });
    expect(walk.call("scout", "skills_read", { name: "pages" }).code).toBe("not_found");
    expect(walk.call("scout", "skills_read", { name: "nothing" }).code).toBe("not_found");
  });
  test("an MCP client gets them as prompts", () => {
    const ask = (agent: string): readonly { id: number; result?: unknown; error?: unknown }[] => {
      const lines = [
        {
          id: 1,
          method: "initialize",
          params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
        },
        { method: "notifications/initialized" },
        { id: 2, method: "prompts/list" },
        { id: 3, method: "prompts/get", params: { name: "pages" } },
      ].map((line) => `${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`);
      const { stdout } = spawnSync(process.execPath, [join(root, "bin", "ambit"), "mcp", "serve", "--agent", agent], {
        ...{ cwd: walk.folder, env: environment, input: lines.join(""), encoding: "utf8", timeout: 60_000 },
      });
      return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    };
    const web = ask("web");
    expect(web.find(({ id }) => id === 2)?.result).toMatchObject({ prompts: [{ name: "pages" }] });
    expect(JSON.stringify(web.find(({ id }) => id === 3)?.result)).toContain("Fetch the page first.");
    const scout = ask("scout");
    expect(scout.find(({ id }) => id === 2)?.result).toMatchObject({ prompts: [] });
    expect(scout.find(({ id }) => id === 3)?.error).toBeDefined();
  });
});
