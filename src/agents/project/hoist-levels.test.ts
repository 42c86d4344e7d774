import { describe, expect, test } from "vitest";
import { AGENT_PATH, projectOf, record, scout, trustOf, UNTRUSTED, userLevel } from "../../../test/trust/project.ts";
import { pathText } from "../../core/authority/axes/path.ts";
import { coverage } from "../../core/authority/chain.ts";
import { readRequestText } from "../../core/notation/request/request.ts";
import { READING } from "../../core/notation/testing/notation.ts";
import type { Agent } from "./agent.ts";
import { levelsOf } from "./hoist-levels.ts";

const MOMENT = { now: 0, clean: true, generation: 0, revoked: null, exhausted: null } as const;

/** allow, ask or deny. */
function verdict(agent: Agent, line: string): string {
  const asked = readRequestText(line, READING);
  if (!asked.ok) throw new Error(asked.message);
  const found = coverage(agent.authority, asked.value, MOMENT);
  return found === null ? "deny" : found.level === 0 ? "allow" : "ask";
}

describe("the outermost root comes from the user, then the project", () => {
  test.each<[string, string | null, string | null, string | null, readonly string[]]>([
    ["none is set", null, null, null, []],
    ["the user alone", "sandbox: /srv", null, "/srv", []],
    ["the project alone", null, "sandbox: /srv/a", "/srv/a", []],
    ["the project inside the user's", "sandbox: /srv", "sandbox: /srv/a", "/srv/a", []],
    ["the project is the user's", "sandbox: /srv", "sandbox: /srv", "/srv", []],
    ["a project outside is clamped", "sandbox: /srv", "sandbox: /srvx", "/srv", ["warning clamped"]],
    ["a project above is clamped", "sandbox: /srv/a", "sandbox: /srv", "/srv/a", ["warning clamped"]],
    ["a project that sets everything is clamped", "sandbox: /srv", "sandbox: /", "/srv", ["warning clamped"]],
  ])("%s", (_, user, config, ceiling, said) => {
    const { levels } = projectOf({ agent: null, config }, null, user);
    expect(levels.ceiling === null ? null : pathText(levels.ceiling)).toBe(ceiling);
    expect(levels.diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(said);
  });

  test("roots are compared after links are resolved", () => {
    const links = { "/work/data": "/home/u" };
    const { levels } = projectOf({ agent: null, config: "sandbox: /work/data", links }, null, "sandbox: /work");
    expect(levels.ceiling).toEqual(["work"]);
    expect(levels.diagnostics[0]?.message).toMatch(/\/home\/u is outside/);
  });
});

describe("an agent inside its levels", () => {
  test.each<[string, string | null, string | null, readonly string[], string, string]>([
    ["hoists the project's root", null, "sandbox: /srv", ["capabilities: [fs.read]"], "fs.read /srv/x", "allow"],
    ["and not its neighbour", null, "sandbox: /srv", ["capabilities: [fs.read]"], "fs.read /srw/x", "deny"],
    ["has no root if none is set", null, null, ["capabilities: [fs.read]"], "fs.read /work/x", "deny"],
    ["is clamped to it", null, "sandbox: /srv", ["sandbox: /home"], "fs.read /srv/x", "allow"],
    ["and has nothing outside", null, "sandbox: /srv", ["sandbox: /home"], "fs.read /home/x", "deny"],
    [
      "a grant outside is inert",
      null,
      "sandbox: /srv",
      ["capabilities: ['fs.read{in=/home}']"],
      "fs.read /srv/x",
      "deny",
    ],
    ["the user's ceiling narrows", "ceiling: [records.read]", null, ["access: rw"], "records.create id=a", "deny"],
    ["and keeps what it names", "ceiling: [records.read]", null, ["access: rw"], "records.read id=a", "allow"],
    ["needs approval if it says so", "ceiling: ['records.read{ask}']", null, ["access: r"], "records.read id=a", "ask"],
    ["it adds nothing", "ceiling: [records.read, records.create]", null, ["access: r"], "records.create id=a", "deny"],
    [
      "tools it does not mention stay",
      "ceiling: [records.read]",
      null,
      ["access: r"],
      "tool.invoke fs_read {}",
      "allow",
    ],
  ])("%s", (_, user, config, lines, line, outcome) => {
    const { agent } = scout({ agent: record(...lines), config }, null, user);
    expect(verdict(agent, line)).toBe(outcome);
  });
});

describe("org tables of both levels", () => {
  test("if both are set the stricter applies, for all agents and for one", () => {
    const user = userLevel("policy: { web: deny }\nagents: { scout: { code: ask } }");
    const project = projectOf(
      { agent: null, config: "policy: { web: allow, hire: ask }\nagents: { scout: { code: allow, web: ask } }" },
      null,
    );
    const { policies } = levelsOf(user, project.config);
    expect(Object.fromEntries(policies.org ?? [])).toEqual({ web: "deny", hire: "ask" });
    expect(Object.fromEntries(policies.agents.get("scout") ?? [])).toEqual({ code: "ask", web: "ask" });
  });
});

describe("a ruling against grants of the record", () => {
  const lists = ["sandbox: /srv/p", "capabilities: [records.read, 'net.get{hosts=[x.com]}', agent.create]"];
  test.each<[string, readonly string[], string | null, string, string]>([
    ["no ruling", lists, null, "net.get https://x.com/", "allow"],
    ["the record's deny", [...lists, "policy: { web: deny }"], null, "net.get https://x.com/", "deny"],
    ["of one capability alone", [...lists, "policy: { web: deny }"], null, "agent.create b", "allow"],
    ["over a shorthand", ["sandbox: /srv/p"], "agents: { scout: { code: deny } }", "fs.read /srv/p/a", "deny"],
    [
      "over a preset",
      ["sandbox: /srv/p", "extends: ambit:reader@1", "policy: { code: deny }"],
      null,
      "fs.read /srv/p/a",
      "deny",
    ],
    [
      "over every verb of the net",
      ["capabilities: ['net.post{hosts=[x.com]}']", "policy: { web: deny }"],
      null,
      "net.post https://x.com/",
      "deny",
    ],
    ["the organisation's", lists, "policy: { hire: deny }", "agent.create b", "deny"],
    [
      "which the record's own table overrides",
      [...lists, "policy: { hire: allow }"],
      "policy: { hire: deny }",
      "agent.create b",
      "allow",
    ],
    [
      "for this agent by name, over its own",
      [...lists, "policy: { hire: allow }"],
      "agents: { scout: { hire: deny } }",
      "agent.create b",
      "deny",
    ],
    ["for another agent by name", lists, "agents: { other: { hire: deny } }", "agent.create b", "allow"],
    ["ask by name", lists, "agents: { scout: { web: ask } }", "net.get https://x.com/", "ask"],
    ["ask of the organisation is a default", lists, "policy: { web: ask }", "net.get https://x.com/", "allow"],
    ["allow by name adds nothing", lists, "agents: { scout: { delegate: allow } }", "agent.delegate b", "deny"],
    [
      "nor does it beside an organisation's table",
      lists,
      "policy: { crm: allow }\nagents: { scout: { delegate: allow } }",
      "agent.consult b",
      "deny",
    ],
    [
      "nor the base beside the record's table",
      ["policy: { web: ask }"],
      "policy: { crm: allow }",
      "agent.consult b",
      "deny",
    ],
    [
      "the organisation's default beside it",
      ["policy: { web: ask }"],
      "policy: { consult: allow }",
      "agent.consult b",
      "allow",
    ],
    [
      "contacts removed from a list",
      ["capabilities: ['records.read{classes=[note,contact]}']", "policy: { crm: deny }"],
      null,
      "records.read id=a class=note",
      "allow",
    ],
    [
      "contacts",
      ["capabilities: ['records.read{classes=[note,contact]}']", "policy: { crm: deny }"],
      null,
      "records.read id=a class=contact",
      "deny",
    ],
    [
      "contacts removed from every class",
      ["access: rw", "policy: { crm: deny }"],
      null,
      "records.read id=a class=note",
      "deny",
    ],
    ["a misspelled ruling", [...lists, "policy: { web: dney }"], null, "agent.create b", "deny"],
  ])("%s", (_, lines, config, line, outcome) => {
    const { agent } = scout({ agent: record(...lines), config }, null, null);
    expect(verdict(agent, line)).toBe(outcome);
  });
  test("is a warning at the grant's line", () => {
    const { agent } = scout({ agent: record(...lists, "policy: { web: deny }"), config: null }, null, null);
    expect(agent.diagnostics.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      "narrowed: the policy denies `web`, which removes net.get",
    ]);
  });
});

describe("a ruling is shown where it is written", () => {
  const config = "policy: { consult: ask, hire: deny, crm: ask }\nagents: { scout: { web: ask, schedule: allow } }";
  /** The text at the span of each grant, by the grant's origin. */
  const shownAt = (lines: string, project: string | null, user: string | null = null): Record<string, string> => {
    const { agent } = scout({ agent: record(lines), config: project }, null, user);
    const texts = new Map([[AGENT_PATH, record(lines)]]);
    for (const { name, text } of agent.around ?? []) texts.set(name, text);
    return Object.fromEntries(
      agent.grants.map(({ implied, span }) => [
        implied,
        span === null ? "nowhere" : `${span.source}: ${texts.get(span.source)?.slice(span.start, span.end)}`,
      ]),
    );
  };

  test("in the record or in the configuration", () => {
    expect(shownAt("policy: { delegate: ask, schedule: allow, hire: deny }", config)).toMatchObject({
      "policy delegate": `${AGENT_PATH}: delegate: ask`,
      "policy schedule": `${AGENT_PATH}: schedule: allow`,
      "policy consult (config)": ".ambit/config.yml: consult: ask",
      "policy crm (config)": ".ambit/config.yml: crm: ask",
    });
  });

  test("the stricter one's, from either level", () => {
    const own = "policy: { web: allow, schedule: ask }";
    expect(shownAt(own, config)).toMatchObject({
      "policy web (config)": ".ambit/config.yml: web: ask",
      "policy schedule": `${AGENT_PATH}: schedule: ask`,
    });
    const user = "policy: { consult: allow, schedule: allow }\nagents: { scout: { schedule: ask } }";
    expect(shownAt("policy: {}", config, user)).toMatchObject({
      "policy consult (config)": ".ambit/config.yml: consult: ask",
      "policy schedule (config)": "user.yml: schedule: ask",
    });
  });

  test("naming an agent that has no table grants it nothing", () => {
    expect(Object.keys(shownAt("title: x", config))).toEqual(["default"]);
  });
});

describe("a broken level", () => {
  test.each<[string, string | null, string | null, RegExp]>([
    ["the user's", "sandbx: /srv", null, /until user\.yml is fixed: unknown key/],
    ["the project's", null, "sandbx: /srv", /until \.ambit\/config\.yml is fixed: unknown key/],
    ["a text that is not YAML", null, "a: [", /until \.ambit\/config\.yml is fixed/],
    ["a project that sets the user's ceiling", null, "ceiling: ['net.get{hosts=[\"*\"]}']", /a setting of the user/],
  ])("%s makes every agent grant nothing, with one line", (_, user, config, line) => {
    const { agent } = scout({ agent: record("access: rw"), config }, null, user);
    expect(agent).toMatchObject({ refused: true, grants: [] });
    expect(agent.diagnostics.filter(({ message }) => line.test(message))).toHaveLength(1);
    expect(verdict(agent, "records.read id=a")).toBe("deny");
  });

  test("makes nothing of an untrusted project count either", () => {
    const texts = { agent: record("access: rw"), config: "sandbx: /" };
    for (const trusted of [UNTRUSTED, trustOf(texts)])
      expect(verdict(scout(texts, trusted).agent, "records.read id=a")).toBe("deny");
  });
});
