// Policy files of Gemini CLI as grants: what its engine decides by priority, tier and condition, and what is wrong with a file.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/base/json.ts";
import { READING } from "../../core/notation/testing/notation.ts";
import { plainValue } from "../../core/notation/tree.ts";
import { readToml } from "../../text/toml.ts";
import { compileRules } from "./compile-rules.ts";
import { importRules, type RuleImport } from "./import-rules.ts";
import { geminiPolicy, geminiRules } from "./read-gemini-rules.ts";
import type { NativeRule } from "./read-rules.ts";

const SETTINGS = { home: ["home", "ada"], base: ["home", "ada", "app"], protectedPaths: [["home", "ada", ".ssh"]] };
const READ = { ...READING, pathSettings: SETTINGS };

function value(text: string): Json {
  const { tree, diagnostics } = readToml({ name: "f", text });
  expect(diagnostics).toEqual([]);
  return tree === null ? {} : plainValue(tree);
}

type Tier = Parameters<typeof geminiPolicy>[0];

function rule(about: string, decision = "allow", priority: number | null = 100): string {
  const lines = about.includes("=") ? about : `toolName = "${about}"`;
  return `[[rule]]\n${lines}\ndecision = "${decision}"\n${priority === null ? "" : `priority = ${priority}\n`}`;
}

function shell(prefix: string): string {
  return `toolName = "run_shell_command"\ncommandPrefix = ${JSON.stringify(prefix)}`;
}

function imported(text: string, tier: Tier = "user", more: readonly NativeRule[] = []): RuleImport {
  return importRules([...geminiPolicy(tier)(value(text), "p.toml"), ...more], READ, []);
}

const specs = (found: RuleImport): readonly string[] => found.grants.map(({ spec }) => spec);
const kinds = (found: RuleImport): readonly string[] => found.findings.map(({ kind }) => kind);
const command = (words: string, ask = ""): string => `proc.exec{in=.,patterns=["${words}"]${ask}}`;

describe("a rule of a policy as a grant", () => {
  test.each<readonly [string, readonly string[], readonly string[]]>([
    [rule(shell("git status")), [command("git status **")], ["meaning"]],
    [rule('toolName = "run_shell_command"\ncommandPrefix = ["ls", "cat"]'), [command("ls **"), command("cat **")], []],
    [rule(shell("curl")), [command("curl **", ",ask")], []],
    [rule(shell("git  log")), [], ["unreadable"]],
    [rule(shell("git ")), [], ["unreadable"]],
    [rule(shell("git && rm")), [], ["unreadable"]],
    [rule(shell("")), [], ["broad"]],
    [rule("run_shell_command"), [], ["broad"]],
    [rule("*"), [], ["broad"]],
    [rule("read_file"), ["fs.read{in=.}"], []],
    // A list of names is less than their contents.
    [rule("list_directory"), [], ["unreadable"]],
    [rule("write_file"), ["fs.write{in=.,ask}"], []],
    [rule("write_todos"), [], []],
    [rule("no_such_tool"), [], ["unreadable"]],
    [rule('toolName = "search"\nmcpName = "jira"'), ["tool.invoke{tools=[mcp_jira_search]}"], []],
    // Where the name of a server ends cannot be seen: another one's tool reads the same.
    [rule('toolName = "get_issue"\nmcpName = "jira"'), ["tool.invoke{tools=[mcp_jira_get_issue],ask}"], []],
    [rule('toolName = "*"\nmcpName = "jira"'), ["tool.invoke{tools=[tool:mcp_jira_*],ask}"], []],
    [rule('toolName = "*"\nmcpName = "*"'), [], ["broad"]],
    [rule("mcp_*_search"), [], ["unreadable"]],
    // Conditions that a grant does not have.
    [rule(`${shell("git")}\nsubagent = "x"`), [], ["unreadable"]],
    [rule('toolName = "run_shell_command"\ncommandRegex = "git (log|diff)"'), [], ["unreadable"]],
    [rule("toolName = \"read_file\"\nargsPattern = 'a'"), [], ["unreadable"]],
    [rule('toolName = "read_file"\ncommandPrefix = "git"'), [], ["unreadable"]],
    [rule('toolName = "read_file"\ntoolAnnotations = { readOnlyHint = true }'), [], ["unreadable"]],
    // It holds only sometimes, so a person decides.
    [rule(`${shell("git log")}\nmodes = ["yolo"]`), [command("git log **", ",ask")], ["meaning"]],
    [rule(`${shell("git log")}\ninteractive = true`), [command("git log **", ",ask")], ["meaning"]],
    [rule(`${shell("git log")}\nmodes = ["plan", "default", "autoEdit", "yolo"]`), [command("git log **")], []],
    [rule(shell("git log"), "ask_user"), [command("git log **", ",ask")], []],
    [rule(shell("git log"), "deny"), [], []],
    ["", [], []],
  ])("%j", (text, wanted, found) => {
    const result = imported(text);
    expect(specs(result)).toEqual(wanted);
    if (found.length > 0) expect(kinds(result)).toEqual(expect.arrayContaining([...found]));
  });
});

describe("rules that meet", () => {
  const git = rule(shell("git"), "allow", 100);
  test.each<readonly [string, string, readonly string[]]>([
    ["a denial inside, of the same priority", rule(shell("git push"), "deny", 100), []],
    ["a denial inside, of a higher one", rule(shell("git push"), "deny", 200), []],
    // Gemini never consults it; the person who wrote it meant it.
    ["a denial inside, of a lower one", rule(shell("git push"), "deny", 50), []],
    ["a denial of another command", rule(shell("rm"), "deny", 200), [command("git **")]],
    ["a denial of every tool as the default", rule("*", "deny", 1), [command("git **")]],
    ["a denial of every command as the default", rule("run_shell_command", "deny", 1), [command("git **")]],
    ["a denial of every tool that comes first", rule("*", "deny", 101), []],
    ["a denial of every tool of the same priority", rule("*", "deny", 100), []],
    ["a default that holds only sometimes", rule('toolName = "*"\nmodes = ["plan"]', "deny", 1), []],
    ["a question inside", rule(shell("git push"), "ask_user", 100), [command("git **", ",ask")]],
    ["an expression that denies", rule('toolName = "run_shell_command"\ncommandRegex = ".*force"', "deny", 100), []],
    ["a denial of files", rule("read_file", "deny", 100), [command("git **")]],
    [
      "a program that checks calls",
      '[[safety_checker]]\ntoolName = "run_shell_command"\n[safety_checker.checker]\ntype = "external"\nname = "x"\n',
      [command("git **", ",ask")],
    ],
  ])("%s", (_, other, wanted) => {
    // "git push **" also asks, where it is a grant of its own.
    expect(specs(imported(`${git}${other}`)).filter((one) => !one.includes("push"))).toEqual(wanted);
  });

  test("a denial that a higher priority hides is named", () => {
    const { findings } = imported(`${git}${rule(shell("git push"), "deny", 50)}`);
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: "unreachable", rule: expect.stringMatching("deny") }),
    );
  });

  test("what the machine denies comes before every priority of the user", () => {
    const admin = geminiPolicy("managed")(value(rule("run_shell_command", "deny", 1)), "a.toml");
    expect(specs(imported(rule(shell("git"), "allow", 999), "user", admin))).toEqual([]);
    const same = geminiPolicy("user")(value(rule("run_shell_command", "deny", 1)), "a.toml");
    expect(specs(imported(rule(shell("git"), "allow", 999), "user", same))).toEqual([command("git **")]);
  });

  test("policies in folders that are not read deny everything", () => {
    const settings = geminiRules({ policyPaths: ["/srv/policies"] }, "settings.json");
    expect(specs(imported(git, "user", settings))).toEqual([]);
  });
});

describe("a file that Gemini leaves out", () => {
  test.each([
    ["of a project", "project", rule(shell("git")), "Gemini ignores the policies of a project"],
    ["without a priority", "user", rule(shell("git"), "allow", null), "rule 1 has no `priority`"],
    ["with a priority too high", "user", rule(shell("git"), "allow", 1000), "rule 1 has no `priority`"],
    ["with another decision", "user", rule(shell("git"), "prompt"), "rule 1 has no `decision`"],
    ["without a tool", "user", rule('mcpName = "x"'), "rule 1 has no `toolName`"],
    ["with a mode it does not know", "user", rule(`${shell("git")}\nmodes = ["auto"]`), "a mode that Gemini"],
    ["with a number as a prefix", "user", rule('toolName = "run_shell_command"\ncommandPrefix = 1'), "`commandPrefix`"],
    ["with rules that are no list", "user", 'rule = "git"\n', null],
  ] as const)("%s gives nothing, and is named", (_, tier, text, why) => {
    const result = imported(text, tier);
    expect(specs(result)).toEqual([]);
    if (why !== null) expect(result.findings.map((one) => one.text)).toContainEqual(expect.stringContaining(why));
  });

  test("still counts with what it denies", () => {
    const broken = geminiPolicy("user")(
      value(`${rule(shell("git push"), "deny")}${rule("x", "allow", null)}`),
      "b.toml",
    );
    expect(specs(imported(rule(shell("git")), "user", broken))).toEqual([]);
  });
});

test("what the record allows without asking, Gemini's engine allows: the rule of the highest priority decides", () => {
  const prefixes = ["git", "git log", "git push", "ls", null] as const;
  const rules = fc.array(
    fc.record({
      prefix: fc.constantFrom(...prefixes),
      tool: fc.constantFrom("run_shell_command", "*"),
      decision: fc.constantFrom("allow", "deny", "ask_user"),
      // Two rules of one priority: the first decides in Gemini; the record relies on neither.
      priority: fc.constantFrom(10, 20, 30),
    }),
    { maxLength: 6 },
  );
  const lines = ["git", "git log -1", "git push", "git status", "ls -l", "rm x"];
  fc.assert(
    fc.property(rules, (all) => {
      const own = all.map((one) => ({ ...one, tool: one.prefix === null ? one.tool : "run_shell_command" }));
      const text = own.map(({ prefix, tool, decision, priority }) =>
        rule(prefix === null ? tool : shell(prefix), decision, priority),
      );
      const granted = imported(text.join("\n"))
        .grants.filter(({ spec }) => !spec.includes("ask"))
        .map(({ spec }) => /patterns=\["(.*) \*\*"\]/.exec(spec)?.[1] ?? "");
      const matches = (prefix: string | null, line: string): boolean =>
        prefix === null || line === prefix || line.startsWith(`${prefix} `);
      for (const line of lines) {
        if (!granted.some((prefix) => matches(prefix, line))) continue;
        const best = own.filter(({ prefix }) => matches(prefix, line)).sort((a, b) => b.priority - a.priority);
        expect({ line, text, decision: best[0]?.decision }).toEqual({ line, text, decision: "allow" });
      }
    }),
    { numRuns: 400 },
  );
});

test("a compiled policy gives nothing that was not there", () => {
  const compiled = compileRules("gemini", { grants: [], pathSettings: SETTINGS, isHookOnly: false });
  expect(specs(imported(compiled?.text ?? ""))).toEqual([]);
  expect(geminiPolicy("user")(value(compiled?.text ?? ""), "f").length).toBeGreaterThan(5);
});
