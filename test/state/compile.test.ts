// `ambit compile` through the built program: rules on standard output, the table beside them, and `--check` for CI.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  const files = ["fs.read", "fs.write{paths=[src/**]}", "proc.exec{cmds=[ls]}"];
  fixture.agent(
    "coder",
    [...files, "net.get{hosts=[api.github.com]}", "tool.invoke{tools=[mcp__notes__add]}"],
    "sandbox: .\n",
  );
  await fixture.trust();
});
afterAll(() => fixture?.remove());

interface Compiled {
  readonly text: string;
  readonly rows: readonly { readonly exactness: string; readonly grant: string; readonly at: string | null }[];
  readonly isCurrent?: boolean;
  readonly differences?: readonly string[];
  readonly looser?: readonly { readonly path: string; readonly what: string }[];
}

async function compiled(...words: readonly string[]): Promise<Compiled> {
  return JSON.parse((await fixture.ambit("compile", ...words, "--agent", "coder", "--json")).out) as Compiled;
}

function settings(value: object): void {
  mkdirSync(join(fixture.project, ".claude"), { recursive: true });
  writeFileSync(join(fixture.project, ".claude", "settings.json"), JSON.stringify(value));
}

test("each grant has its line of the record, and says how exactly the client has it", async () => {
  const { rows, text } = await compiled("claude");
  const written = rows.filter(({ at }) => at?.includes("coder.md:"));
  expect(written.map(({ exactness, grant }) => [grant.split("{")[0], exactness])).toEqual([
    ["fs.read", "exact"],
    ["fs.write", "hook"],
    ["proc.exec", "hook"],
    ["net.get", "exact"],
    ["tool.invoke", "exact"],
  ]);
  expect(written[0]?.at).toMatch(/coder\.md:\d+$/);
  expect(JSON.parse(text)).toEqual({
    [LISTS]: {
      allow: ["Read(/**)", "WebFetch(domain:api.github.com)", "mcp__notes__add"],
      ask: [],
      deny: ["Read(/.ambit)", "WebSearch"],
    },
  });
});

const LISTS = "permissions";
const DENY = ["Read(/.ambit)", "WebSearch"];

describe("--check", () => {
  test.each<[string, object, readonly string[]]>([
    ["no rules", {}, ["`Read(/.ambit)` is missing in deny", "`WebSearch` is missing in deny"]],
    ["fewer that allow, more that deny", { [LISTS]: { deny: [...DENY, "Bash(rm *)"] } }, []],
    ["the compiled ones", { [LISTS]: { allow: ["Read(/**)"], deny: DENY }, hooks: {} }, []],
    [
      "one that allows more",
      { [LISTS]: { allow: ["Bash(curl *)"], deny: DENY } },
      ["`Bash(curl *)` is allowed, but not by the record"],
    ],
    ["a mode", { [LISTS]: { defaultMode: "bypassPermissions", deny: DENY } }, ["`defaultMode` is bypassPermissions"]],
  ])("settings with %s", async (_, value, differences) => {
    settings(value);
    const found = await compiled("claude", "--check");
    expect([found.isCurrent, found.differences]).toEqual([differences.length === 0, differences]);
    const { status } = await fixture.ambit("compile", "claude", "--agent", "coder", "--check");
    expect(status).toBe(differences.length === 0 ? 0 : 1);
  });

  const compiledRules = { [LISTS]: { allow: ["Read(/**)"], deny: DENY } };
  const ours = { matcher: "*", hooks: [{ type: "command", command: ": ambit-hook claude coder; exit 2" }] };
  const theirs = { matcher: "*", hooks: [{ type: "command", command: "approve-all" }] };
  const local = ".claude/settings.local.json";
  test.each<[string, object, object | string | null, readonly string[]]>([
    [
      "our hook, and rules of its own that deny",
      { hooks: { PreToolUse: [ours] } },
      { [LISTS]: { deny: ["Bash"] } },
      [],
    ],
    [
      "rules of its own that allow",
      {},
      { [LISTS]: { allow: ["Bash(ls)"] } },
      [`${local} \`Bash(ls)\` is allowed, but not by the record`],
    ],
    ["a mode of its own", {}, { [LISTS]: { defaultMode: "auto" } }, [`${local} \`defaultMode\` is auto`]],
    ["hooks switched off", {}, { disableAllHooks: true }, [`${local} \`disableAllHooks\` disables the hook`]],
    [
      "another program's hook",
      { hooks: { PreToolUse: [ours, theirs] } },
      null,
      [".claude/settings.json a hook of another program for PreToolUse can allow calls"],
    ],
    [
      "commands that its own sandbox allows",
      { sandbox: { enabled: true, autoAllowBashIfSandboxed: true } },
      null,
      [".claude/settings.json `sandbox.autoAllowBashIfSandboxed` allows every command in the client's own sandbox"],
    ],
    ["another file that is no JSON", {}, "{", [`${local} it is not valid JSON`]],
  ])("%s", async (_, more, other, expected) => {
    settings({ ...compiledRules, ...more });
    const path = join(fixture.project, local);
    rmSync(path, { force: true });
    if (other !== null) writeFileSync(path, typeof other === "string" ? other : JSON.stringify(other));
    const { looser, isCurrent } = await compiled("claude", "--check");
    expect(looser?.map(({ path: file, what }) => `${file} ${what}`)).toEqual(expected);
    expect(isCurrent).toBe(expected.length === 0);
    rmSync(path, { force: true });
  });

  test("a client without rules in a project has nothing to check", async () => {
    expect((await fixture.ambit("compile", "gemini", "--agent", "coder", "--check")).status).toBe(2);
  });
});

test.each([
  ["codex", "sandbox"],
  ["opencode", '"*": "ask"'],
  ["gemini", 'toolName = "google_web_search"'],
  ["cursor", '"allow": []'],
  ["copilot", "copilot"],
  ["vscode", "chat.tools"],
])("the same text twice for %s", async (client, part) => {
  const [first, second] = [await compiled(client), await compiled(client)];
  expect(first.text).toBe(second.text);
  if (client !== "codex") expect(first.text).toContain(part);
});

test.each([["clyde"], ["claude", "--agent", "absent"]])("refused: %s", async (...words) => {
  expect((await fixture.ambit("compile", "--agent", "coder", ...words)).status).not.toBe(0);
});

test("skills lint: what a skill gives itself in Claude Code, and what the record allows of it", async () => {
  const text = `---\nname: notes\ndescription: d\nallowed-tools: Read Bash(ls:*) Bash(curl:*) Write(/x)\n---\nx\n`;
  fixture.write("project/.ambit/skills/notes/SKILL.md", text);
  await fixture.trust();
  const { status, out } = await fixture.ambit("skills", "lint", "--agent", "coder", "--json");
  const found = JSON.parse(out) as {
    skills: readonly { tools: readonly { tool: string; record: string; isFinding: boolean }[] }[];
  };
  expect(status).toBe(10);
  expect(found.skills[0]?.tools.map(({ tool, record, isFinding }) => [tool, record, isFinding])).toEqual([
    ["Read", "allowed", true],
    ["Bash(ls:*)", "allowed", false],
    ["Bash(curl:*)", "missing", true],
    ["Write(/x)", "missing", true],
  ]);
  expect((await fixture.ambit("skills", "lint", "absent")).status).toBe(1);
  expect((await fixture.ambit("skills", "lint")).out).toContain("not known to read");
});

test("skills lint reads skills of the client too, which ambit offers to no agent", async () => {
  const text = `---\nname: ship\ndescription: d\nallowed-tools: Bash(*)\n---\nx\n`;
  fixture.write("project/.claude/skills/ship/SKILL.md", text);
  const { status, out } = await fixture.ambit("skills", "lint", "ship");
  expect([status, out]).toEqual([
    10,
    expect.stringMatching(/ship {2}.*\.claude\/skills\/ship\/SKILL\.md\n.*Bash\(\*\)/),
  ]);
  expect((await fixture.ambit("skills", "list")).out).not.toContain("ship");
});

describe("import", () => {
  const file = (): string => join(fixture.project, ".ambit", "agents", "mine.md");
  const rules = {
    allow: ["Read(/src/**)", "Write(/x/**)", "Bash(git log *)", "Bash(*)"],
    deny: ["Read(/src/secret/**)"],
  };

  test("writes nothing before a yes, and shows what is wrong with the rules", async () => {
    settings({ [LISTS]: rules });
    const { status, out } = await fixture.ambit("import", "claude", "--agent", "mine");
    expect([status, existsSync(file())]).toEqual([0, false]);
    for (const part of [
      "does nothing",
      "too broad",
      "means less",
      '+ proc.exec{in=.,patterns=["git log **"]}',
      "nothing was written",
    ])
      expect(out).toContain(part);
  });

  test("writes a record that has no effect before it is trusted; again, nothing is new", async () => {
    settings({ [LISTS]: rules });
    expect((await fixture.ambit("import", "claude", "--agent", "mine", "--yes")).out).toContain("ambit trust");
    const [can, request] = [
      ["can", "mine", "proc.exec"],
      ["--", "git", "log", "-1"],
    ];
    expect((await fixture.ambit(...can, ...request)).status).toBe(14);
    await fixture.trust();
    expect((await fixture.ambit(...can, ...request)).status).toBe(0);
    expect((await fixture.ambit("can", "mine", "fs.read", "src/a")).status).toBe(10);
    const { out } = await fixture.ambit("import", "claude", "--agent", "mine", "--json");
    expect(JSON.parse(out)).toMatchObject({ grants: [], isWritten: false });
  });

  test.each<[string, readonly string[], number]>([
    ["no rules", ["cursor"], 1],
    ["another client", ["clyde"], 2],
    ["an id that is a path", ["claude", "--agent", "../x"], 2],
  ])("refused: %s", async (_, words, expected) => {
    expect((await fixture.ambit("import", ...words)).status).toBe(expected);
  });

  test("gemini: policies of the user and of the project, with what is wrong with them", async () => {
    fixture.variables = { HOME: join(fixture.base, "home") };
    const rule = (about: string, decision: string, priority: number): string =>
      `[[rule]]\ntoolName = "run_shell_command"\n${about}decision = "${decision}"\npriority = ${priority}\n`;
    const prefix = (words: string): string => `commandPrefix = "${words}"\n`;
    fixture.write(
      "home/.gemini/policies/mine.toml",
      `${rule("", "deny", 1)}${rule(prefix("git log"), "allow", 100)}${rule(prefix("git push"), "deny", 200)}`,
    );
    fixture.write("project/.gemini/policies/here.toml", rule(prefix("make"), "allow", 100));
    try {
      const { out } = await fixture.ambit("import", "gemini", "--agent", "shelled", "--user");
      expect(out).toContain('+ proc.exec{in=.,patterns=["git log **"]}');
      expect(out).toContain("Gemini ignores the policies of a project");
      expect(out).not.toContain("make **");
      // Without --user only what the user's policies deny.
      const { out: less } = await fixture.ambit("import", "gemini", "--agent", "shelled", "--json");
      expect(JSON.parse(less)).toMatchObject({ grants: [] });
      fixture.write("home/.gemini/policies/bad.toml", "[[rule]\n");
      expect((await fixture.ambit("import", "gemini")).out).toContain("~/.gemini/policies/bad.toml is not valid TOML");
    } finally {
      fixture.variables = {};
      rmSync(join(fixture.project, ".gemini"), { recursive: true });
    }
  });

  test("refused: a file that is no JSON", async () => {
    writeFileSync(join(fixture.project, ".claude", "settings.json"), "{");
    expect((await fixture.ambit("import", "claude")).out).toContain("is not valid JSON");
  });
});
