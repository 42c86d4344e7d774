import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Authority } from "../../core/authority/chain.ts";
import { compile } from "../../core/authority/compiled.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import type { Json } from "../../core/base/json.ts";
import { parseSpecs } from "../../core/notation/compact/grant-specs.ts";
import { READING } from "../../core/notation/testing/notation.ts";
import { compileRules } from "./compile-rules.ts";
import { importRules, type RuleImport } from "./import-rules.ts";
import { codexRules, codexSettings, vscodeRules } from "./read-editor-rules.ts";
import { geminiRules } from "./read-gemini-rules.ts";
import { claudeRules, cursorRules, mapRules } from "./read-rules.ts";

const SETTINGS = { home: ["home", "ada"], base: ["home", "ada", "app"], protectedPaths: [["home", "ada", ".ssh"]] };
const READ = { ...READING, pathSettings: SETTINGS };
const LISTS = "permissions";
const MAP = "permission";

function authorityOf(specs: readonly string[]): Authority {
  const grants = parseSpecs(specs, READ, null);
  if (grants === null) throw new Error(specs.join(" "));
  const link = { id: "a", role: "own", issuer: "record", holder: "a", validity: ALWAYS, calls: null } as const;
  return [[compile({ ...link, grants })]];
}

function imported(allow: readonly string[], deny: readonly string[] = [], ask: readonly string[] = []): RuleImport {
  return importRules(claudeRules({ [LISTS]: { allow, deny, ask } }, "settings.json"), READ, []);
}

const specs = (found: RuleImport): readonly string[] => found.grants.map(({ spec }) => spec);
const kinds = (found: RuleImport): readonly string[] => found.findings.map(({ kind }) => kind);

describe("a rule of Claude Code as a grant", () => {
  it.each<readonly [string, readonly string[], readonly string[]]>([
    ["Read(/src/**)", ["fs.read{in=.,paths=[src/**]}"], []],
    ["Read(./src/**)", ["fs.read{in=.,paths=[src/**]}"], []],
    ["Read(src/)", ["fs.read{in=.,paths=[src/**]}"], []],
    ["Read(//srv/data/**)", ["fs.read{in=/srv/data}"], []],
    ["Read(~/notes/**)", ["fs.read{in=/home/ada/notes}"], []],
    ["Edit(/docs/**)", ["fs.read{in=.,paths=[docs/**]}", "fs.write{in=.,paths=[docs/**]}"], []],
    ["Read(/README.md)", ["fs.read{in=.,paths=[README.md]}"], ["meaning"]],
    ["Read", ["fs.read{in=.}"], ["broad", "meaning"]],
    // Accepted by the client, and never consulted.
    ["Write(/src/**)", [], ["dead"]],
    ["Glob(src/**)", [], ["dead"]],
    // An absolute path with one slash is looked for in the project.
    ["Read(/Users/ada/.ssh/**)", [], ["dead"]],
    ["Read(/etc/hosts)", [], ["dead"]],
    ["Read(../x)", [], ["unreadable"]],
    ["Read(a?.ts)", [], ["unreadable"]],
    ["Bash(git status)", ['proc.exec{in=.,patterns=["git status"]}'], ["meaning"]],
    ["Bash(git log *)", ['proc.exec{in=.,patterns=["git log **"]}'], ["meaning"]],
    ["Bash(git log:*)", ['proc.exec{in=.,patterns=["git log **"]}'], ["meaning"]],
    ["Bash(curl *)", ['proc.exec{in=.,patterns=["curl **"],ask}'], ["broad", "meaning"]],
    ["Bash(*)", [], ["broad"]],
    ["Bash", [], ["broad"]],
    ["Bash(ls*)", [], ["unreadable"]],
    ["Bash(git * main)", [], ["unreadable"]],
    ["Bash(a && b)", [], ["unreadable"]],
    ["Bash(X=1 make)", [], ["unreadable"]],
    ["WebFetch(domain:Docs.Example.com)", ["net.get{hosts=[docs.example.com]}"], []],
    ["WebFetch(domain:*.example.com)", [], ["unreadable"]],
    ["WebFetch", [], ["broad"]],
    ["WebSearch", ["provider.web_search{hosts=[*]}"], []],
    ["mcp__notes__add", ["tool.invoke{tools=[mcp__notes__add]}"], []],
    ["mcp__notes", ["tool.invoke{tools=[tool:mcp__notes__*]}"], []],
    ["mcp__notes__*", ["tool.invoke{tools=[tool:mcp__notes__*]}"], []],
    ["TodoWrite", [], []],
    ["*", [], ["broad"]],
    ["Nonsense(", [], ["unreadable"]],
    ["", [], ["unreadable"]],
  ])("%s", (rule, expected, findings) => {
    const found = imported([rule]);
    expect([specs(found), kinds(found)]).toEqual([expected, findings]);
  });
});

describe("rules that deny or ask come before rules that allow", () => {
  it.each<readonly [string, RuleImport, readonly string[], readonly string[]]>([
    ["the same", imported(["Bash(git push *)"], ["Bash(git push *)"]), [], ["unreachable"]],
    ["wider", imported(["Bash(git push *)"], ["Bash(git *)"]), [], ["unreachable"]],
    ["the whole tool", imported(["Bash(git push *)"], ["Bash"]), [], ["unreachable"]],
    ["inside it", imported(["Read(/**)"], ["Read(/.env)"]), [], ["meaning"]],
    ["in another case", imported(["Read(/src/**)"], ["Read(/SRC/secret/**)"]), [], ["meaning"]],
    ["not known", imported(["Bash(git *)"], ["Bash(*--force*)"]), [], ["unreachable"]],
    [
      "another command",
      imported(["Bash(git status)"], ["Bash(rm *)"]),
      ['proc.exec{in=.,patterns=["git status"]}'],
      ["meaning"],
    ],
    [
      "asks inside it",
      imported(["Bash(git *)"], [], ["Bash(git push *)"]),
      ['proc.exec{in=.,patterns=["git push **"],ask}', 'proc.exec{in=.,patterns=["git **"],ask}'],
      ["meaning", "meaning", "meaning"],
    ],
  ])("%s", (_, found, expected, findings) => {
    expect([specs(found), kinds(found)]).toEqual([expected, findings]);
  });
});

describe("a denial whose extent is not certain", () => {
  test.each([
    [["Read(src/**)"], ["Read(.env)"]],
    [["Read(secrets/a/**)"], ["Read(secrets)"]],
    [["Edit"], ["Read(secrets/{a,b}.key)"]],
    [["Edit(/secrets/**)"], ["Read(secrets/{a,b}.key)"]],
    [["Read"], ["Read(/etc/**)"]],
    [["WebSearch"], ["Web*"]],
  ])("of %j by %j imports nothing of what it may be about", (allow, deny) => {
    expect(specs(importRules(claudeRules({ [LISTS]: { allow, deny } }, "f"), READ, []))).toEqual([]);
  });

  test.each([
    [{ read: { "src/*": "allow", "*.env": "deny" } }],
    [{ read: { "src/*": "allow", "*": "deny" } }],
    [{ read: "allow", "*": "deny" }],
  ])("of opencode, where the last rule wins: %j", (rules) => {
    expect(specs(importRules(mapRules({ [MAP]: rules }, "f"), READ, []))).toEqual([]);
  });

  test("of Codex: a rule with a parenthesis inside", () => {
    const text =
      'prefix_rule(pattern=["git"], decision="allow")\nprefix_rule(pattern=["git", "push"], decision="forbidden", justification="use gh (see docs)")\n';
    expect(specs(importRules(codexRules(text, "f"), READ, []))).toEqual([]);
  });

  test("a folder that is denied as a whole leaves the others", () => {
    const rules = claudeRules({ [LISTS]: { allow: ["Read(src/**)"], deny: ["Read(./secrets/**)"] } }, "f");
    expect(specs(importRules(rules, READ, []))).toHaveLength(1);
  });
});

test("rules of other clients", () => {
  const of = (rules: Parameters<typeof importRules>[0]): readonly string[] => specs(importRules(rules, READ, []));
  expect(
    of(
      mapRules({ [MAP]: { "*": "ask", bash: { "*": "ask", "git status": "allow" }, read: { "src/*": "allow" } } }, "f"),
    ),
  ).toEqual(['proc.exec{in=.,patterns=["git status"]}', "fs.read{in=.,paths=[src/**]}"]);
  expect(of(mapRules({ [MAP]: { bash: "allow", "*": "allow" } }, "f"))).toEqual([]);
  expect(
    of(
      codexRules(
        'prefix_rule(\n  pattern=["git", ["status", "log"]],\n  decision="allow",\n)\nprefix_rule(pattern=["rm"], decision="forbidden")',
        "f",
      ),
    ),
  ).toEqual(['proc.exec{in=.,patterns=["git status **"]}', 'proc.exec{in=.,patterns=["git log **"]}']);
  expect(
    of(
      codexRules('# prefix_rule(pattern=["rm"], decision="allow")\nprefix_rule(pattern=words, decision="allow")', "f"),
    ),
  ).toEqual([]);
  expect(
    of(cursorRules({ [LISTS]: { allow: ["Shell(ls)", "Read(src/**)", "Mcp(a:b)"], deny: ["Shell(rm)"] } }, "f")),
  ).toEqual(['proc.exec{in=.,patterns=["ls **"]}', "fs.read{in=.,paths=[src/**]}"]);
  expect(
    of(
      geminiRules({ tools: { allowed: ["run_shell_command(git status)", "web_fetch"], exclude: ["write_file"] } }, "f"),
    ),
  ).toEqual(['proc.exec{in=.,patterns=["git status **"]}']);
});

const POOL = [
  ...["Read(/src/**)", "Read(/docs/**)", "Read(//srv/**)", "Read", "Edit(/src/**)", "Bash(git status)", "Bash(git *)"],
  ...["Bash(curl *)", "WebFetch(domain:a.example)", "WebSearch", "mcp__s__a", "mcp__s", "Write(/x)", "Bash(*)"],
];

test("import, compile, import again: stable", () => {
  const lists = fc.record({ allow: fc.subarray(POOL), deny: fc.subarray(POOL), ask: fc.subarray(POOL) });
  fc.assert(
    fc.property(lists, (value) => {
      const first = importRules(claudeRules({ [LISTS]: value }, "f"), READ, []);
      const held = authorityOf(specs(first));
      const grants = parseSpecs(specs(first), READ, null) ?? [];
      const compiled = compileRules("claude", { grants, pathSettings: SETTINGS, isHookOnly: false });
      const again = importRules(claudeRules(compiled?.value ?? {}, "f"), READ, held);
      expect(specs(again)).toEqual([]);
      // And of the same rules nothing is new either.
      expect(specs(importRules(claudeRules({ [LISTS]: value }, "f"), READ, held))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

describe("settings of Codex", () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['sandbox_mode = "read-only"', ["fs.read"], ["meaning"]],
    ['model = "x"\nsandbox_mode = "workspace-write"\n[tools]\n', ["fs.read", "fs.write"], ["meaning"]],
    ['sandbox_mode = "danger-full-access"', [], ["broad"]],
    ['sandbox_mode = "new-mode"', [], ["unreadable"]],
    ['approval_policy = "never"', [], ["unreadable"]],
    ["[sandbox_workspace_write]\nnetwork_access = true\n", [], ["broad"]],
    ["[sandbox_workspace_write]\nnetwork_access = false\n", [], []],
    // Of a table, of a comment, and of a text: not the setting of the file.
    ['[profiles.x]\nsandbox_mode = "workspace-write"\n', [], []],
    ['# sandbox_mode = "workspace-write"\n', [], []],
    ['a = """\nsandbox_mode = "workspace-write"\n"""\n', [], []],
    ["", [], []],
  ])("%j", (text, verbs, kinds) => {
    const { grants, findings } = importRules(codexSettings(text, "f"), READ, []);
    expect(grants.map(({ spec }) => spec.split("{")[0])).toEqual(verbs);
    expect(
      [...new Set(findings.map(({ kind }) => kind))].filter((kind) => verbs.length === 0 || kind === "meaning"),
    ).toEqual(kinds);
  });
});

describe("settings of VS Code", () => {
  const terminal = "chat.tools.terminal.autoApprove";
  const edits = "chat.tools.edits.autoApprove";
  test.each<[object, readonly (string | RegExp)[]]>([
    [{ [terminal]: { "npm test": true } }, [/^proc\.exec\{.*npm test/]],
    [{ [terminal]: { "npm test": false } }, [/^proc\.exec\{.*ask/]],
    [{ [terminal]: { "/^npm (test|run)/": true } }, []],
    [{ [terminal]: { "npm test": { approve: true, matchCommandLine: true } } }, []],
    [{ [edits]: { "src/**": true } }, [/^fs\.read/, /^fs\.write/]],
    [{ "chat.tools.autoApprove": true }, []],
    [{ [terminal]: ["npm"] }, []],
    [{}, []],
  ])("%j", (value, expected) => {
    const { grants } = importRules(vscodeRules(value as Json, "f"), READ, []);
    expect(grants).toHaveLength(expected.length);
    for (const [at, part] of expected.entries()) expect(grants[at]?.spec).toMatch(part);
  });
});
