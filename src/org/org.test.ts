import { describe, expect, test } from "vitest";
import type { JsonObject } from "../core/base/json.ts";
import { treeOf } from "../core/notation/testing/notation.ts";
import { orgErrors, orgRulings, readOrg } from "./org.ts";
import { type OrgScope, readOrgLine, triggerKind } from "./org-line.ts";
import { readOrgMarkdown, type ValueReader } from "./org-markdown.ts";
import { isSameValue, jsonOfTree, orgMarkdown } from "./org-text.ts";

/** JSON without positions of its own. */
const readValue: ValueReader = ({ name, text }, { start, end }) => {
  try {
    const tree = treeOf(JSON.parse(text.slice(start, end)));
    return { tree: { ...tree, span: { source: name, start, end } }, diagnostics: [] };
  } catch {
    return { tree: null, diagnostics: [] };
  }
};
const tree = (text: string): ReturnType<typeof readOrgMarkdown> => readOrgMarkdown({ name: "org.md", text }, readValue);
const org = (text: string): ReturnType<typeof readOrg> => readOrg(tree(text));
const agents = (...parts: readonly string[]): string => `# Org\n\n## Agents\n\n${parts.join("\n\n")}\n`;

describe("a line is metadata if its scope knows the key, else prose", () => {
  test.each<[string, OrgScope, string | null]>([
    ["- reports to: CEO", "agent", "reportsTo"],
    ["reports-to: CEO", "agent", "reportsTo"],
    ["  - Reports_To: CEO", "agent", "reportsTo"],
    ["REPORTSTO:CEO", "agent", "reportsTo"],
    ["    - reports to: CEO", "agent", null],
    ["> - reports to: CEO", "agent", null],
    ["1. reports to: CEO", "agent", null],
    ["- reports to CEO", "agent", null],
    ["Note: remember this", "agent", null],
    ["- every: 7d", "agent", null],
    ["- every: 7d", "trigger", "every"],
    ["- Note: evaluate the report", "trigger", null],
    ["evry: 7d", "trigger", null],
    ["- defaults: {}", "org", "defaults"],
  ])("%s in %s", (line, scope, key) => {
    const read = readOrgLine(line, scope);
    expect(read.kind === "metadata" ? read.key : null).toBe(key);
  });
  test.each([
    ["* capabilities: {}", "agent"],
    ["- capabilites: {}", "agent"],
    ["- defaults: {}", "agent"],
    ["- capabilities: {}", "trigger"],
    ["- evry: 7d", "trigger"],
    ["- files: docs/**", "trigger"],
  ] as const)("%s in %s is no silent prose", (line, scope) => {
    expect(readOrgLine(line, scope).kind).toBe("doubtful");
  });
});

describe("a line of a million blanks is read in one pass", () => {
  const blanks = " ".repeat(1_000_000);

  test.each([`a${blanks}x`, `- capabilities${blanks}x`, `a${blanks}\u2028`])("case %#", (line) => {
    expect(readOrgLine(line, "agent")).toEqual({ kind: "prose" });
  });

  test("also as a heading, and a key before its colon", () => {
    const text = `# x${blanks}y\n## Agents${blanks}#\n### a${blanks}##${blanks}\n#${blanks}\u2028\n`;
    expect(org(text).agents.map(({ id }) => id)).toEqual(["a"]);
    expect(readOrgLine(`- model${blanks}: x`, "agent")).toMatchObject({ kind: "metadata", key: "model" });
  });
});

describe("the kind of a trigger follows from its keys", () => {
  test.each([
    [["every"], null, "schedule"],
    [["cron", "agent"], null, "schedule"],
    [["at"], null, "schedule"],
    [["command"], null, "process"],
    [["file"], null, "file"],
    [["after"], null, "task"],
    [[], null, "webhook"],
    [["kind"], "webhook", "webhook"],
    [["kind"], "cron", null],
  ] as const)("%j, %s", (keys, written, kind) => {
    expect(triggerKind(keys, written)).toBe(kind);
  });
});

describe("an org file", () => {
  test("resolves each capability from the agent over the org to the base", () => {
    const read = org(
      `# Org\n\n- defaults: {"capabilities":{"crm":"allow","hire":"ask"}}\n\n## Agents\n\n### Engineer\n\n- capabilities: {"hire":"deny"}\n`,
    );
    const [engineer] = read.agents;
    const rulings = engineer === undefined ? [] : orgRulings(read, engineer);
    expect(rulings.map(({ capability, ruling, from }) => `${capability} ${ruling} ${from}`)).toEqual([
      "code allow base",
      "consult allow base",
      "web allow base",
      "delegate allow base",
      "hire deny agent",
      "schedule allow base",
      "crm allow org",
    ]);
  });
  test.each([
    ["a fence", '```\n- capabilities: {"code":"deny"}\n```'],
    ["an indented line", '    - capabilities: {"code":"deny"}'],
    ["a quote", '> - capabilities: {"code":"deny"}'],
  ])("%s is prose", (_, text) => {
    const { agents: read } = org(agents(`### A\n\n${text}`));
    expect(read[0]?.rulings.table.size).toBe(0);
    expect(read[0]?.prompt).toContain("capabilities");
  });
  test.each([
    ["a misspelt ruling", '### A\n\n- capabilities: {"code":"dny"}'],
    ["an unknown capability", '### A\n\n- capabilities: {"cod":"deny"}'],
    ["a table that is no JSON", "### A\n\n- capabilities: {code: deny}"],
    ["a table that is text", "### A\n\n- capabilities: deny"],
    ["a key twice", '### A\n\n- capabilities: {}\n- capabilities: {"code":"deny"}'],
    ["two agents of one name", "### A\n\n### a"],
    ["names that read alike", "### A\n\n- id: ab\n\n### B\n\n- id: aB"],
    ["no id", "### ???"],
    ["a superior that is not there", "### A\n\n- reports to: B"],
    ["itself as its superior", "### A\n\n- reports to: A"],
    ["superiors in a circle", "### A\n\n- reports to: B\n\n### B\n\n- reports to: A"],
    ["a budget below zero", "### A\n\n- budget: -1"],
    ["a budget of another key", '### A\n\n- budget: {"total":1}'],
    ["a client with a path", "### A\n\n- client: ./claude"],
    ["a model with a star", "### A\n\n- model: *"],
    ["another bullet", '### A\n\n* capabilities: {"code":"deny"}'],
  ])("%s is an error", (_, text) => {
    const read = org(agents(text));
    expect(orgErrors(read, read.agents[0] ?? null)).not.toEqual([]);
  });
  test("an error of JSON is reported once", () => {
    const read = org(agents("### A\n\n- capabilities: {code: deny}"));
    expect(orgErrors(read, read.agents[0] ?? null)).toHaveLength(1);
  });
  test("a superior that is not there: the nearest one is suggested, also for a role in capitals", () => {
    const read = org(agents("### CEO", "### A\n\n- reports to: CEOO"));
    expect(orgErrors(read, read.agents[1] ?? null)).toMatchObject([{ suggestion: "ceo" }]);
  });
  test("a superior is found by its id and by its role", () => {
    const read = org(
      agents("### Head of Sales", "### A\n\n- reports to: Head of Sales", "### B\n\n- reports to: head-of-sales"),
    );
    expect(read.agents.map(({ reportsTo }) => reportsTo)).toEqual([null, "head-of-sales", "head-of-sales"]);
  });
  test("the mission is verbatim, headings and all", () => {
    expect(org("# Org\n\n## Mission\n\nGo.\n\n### Far\n\n- budget: 1\n\n## Agents\n").mission).toBe(
      "Go.\n\n### Far\n\n- budget: 1",
    );
  });
  test("capabilities of its own are ruled on like others, and are no part of the base", () => {
    const read = org(
      `# Org\n\n- capabilities: {"deploy":{"grants":["proc.exec{cmds=[deploy]}"]}}\n\n## Agents\n\n### A\n\n- capabilities: {"deploy":"ask"}\n\n### B\n`,
    );
    const rulings = read.agents.map((agent) => orgRulings(read, agent).at(-1)?.ruling);
    expect([orgErrors(read, null), rulings]).toEqual([[], ["ask", "deny"]]);
  });
  test.each([
    ["a built-in name", `{"code":{}}`],
    ["a name with spaces", `{"de ploy":{}}`],
    ["a ruling", `{"deploy":"allow"}`],
    ["another key", `{"deploy":{"grant":[]}}`],
    ["tools that are no names", `{"deploy":{"tools":["a b"]}}`],
  ])("%s defines no capability", (_, text) => {
    expect(orgErrors(org(`# Org\n\n- capabilities: ${text}\n`), null)).not.toEqual([]);
  });
});

describe("an org as text", () => {
  test.each([
    [
      "everything",
      `# Org\n\nProse.\n\n- budget: 25\n- defaults: {"capabilities":{"crm":"allow"}}\n\n## Mission\n\nGo.\n\n## Agents\n\n### CEO\n\nLead.\n\n### Deputy\n\n- id: second\n- reports to: CEO\n- model: true\n\n## Triggers\n\n### Weekly\n\n- every: 7d\n\nReview.\n\n## Notes\n\nHello\n`,
    ],
  ])("%s reads back as the same value", (_, text) => {
    const value = jsonOfTree(tree(text).tree) as JsonObject;
    expect(isSameValue(jsonOfTree(tree(orgMarkdown(value)).tree), value)).toBe(true);
  });
  test("a prompt with a line of metadata does not, so it is not written", () => {
    const value = { name: "Org", agents: { a: { role: "A", prompt: "- budget: 5" } } };
    expect(isSameValue(jsonOfTree(tree(orgMarkdown(value)).tree), value)).toBe(false);
  });
});
