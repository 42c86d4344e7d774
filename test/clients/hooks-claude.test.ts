// The real Claude Code with our hook in its settings, on a scripted model and loopback alone: allowed tools run, commands in the
// sandbox and in the hook's session; denied ones do not; and nothing runs when the hook fails, in whatever way.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bundleProgram } from "../e2e/bundle.ts";
import { Fixture } from "../state/fixture.ts";
import { inLoopback, whyNoLoopback } from "./loopback.ts";
import type { LoopbackAnswer, LoopbackRequest } from "./loopback-main.ts";
import { claudeCode } from "./place.ts";
import { run } from "./run.ts";
import type { Step } from "./scripted-model.ts";
import { plainServerWords } from "./server-words.ts";

const whyNot = claudeCode === null ? "Claude Code is not made for this machine" : whyNoLoopback();
if (whyNot !== null) console.error(`skipped: ${whyNot}`);

let fixture: Fixture;
let program: string;
let fakeServer: string;
const settings = (): string => join(fixture.project, ".claude", "settings.json");
const made = (): string => join(fixture.project, "src", "made");

beforeAll(async () => {
  program = await bundleProgram(fileURLToPath(new URL("./loopback-main.ts", import.meta.url)));
  fixture = await Fixture.make();
  const files = ["fs.read", "fs.write"];
  fixture.agent("coder", [...files, "proc.exec{cmds=[touch,ls,cat],root=rw}"], "sandbox: .\n");
  fixture.write("project/src/a.txt", "the first line\n");
  fakeServer = join(fixture.base, "fake-server.mjs");
  fixture.write("fake-server.mjs", FAKE_SERVER);
  await fixture.begin();
  const { status, out } = await fixture.ambitAtTerminal("connect", "claude", "--agent", "coder", "--yes");
  if (status !== 0) throw new Error(out);
});
beforeEach(() => rmSync(made(), { force: true }));
afterAll(() => fixture?.remove());

const HOOKED = ["--permission-mode", "bypassPermissions", "--setting-sources", "project"];

/** Every tool is allowed beforehand: what does not run was stopped by the hook. */
async function claude(steps: readonly Step[], options: readonly string[] = HOOKED): Promise<LoopbackAnswer> {
  const home = join(fixture.base, "home");
  mkdirSync(home, { recursive: true });
  const asked: LoopbackRequest = {
    words: [...[claudeCode ?? "", "--print", "go", ...options, "--no-session-persistence", "--output-format", "json"]],
    cwd: fixture.project,
    environment: {
      ...Object.fromEntries(Object.entries(fixture.environment).map(([name, value]) => [name, value ?? ""])),
      ...{ HOME: home, CLAUDE_CONFIG_DIR: join(home, "claude"), CLAUDE_CODE_TMPDIR: home, ANTHROPIC_API_KEY: "none" },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", ENABLE_TOOL_SEARCH: "false", IS_SANDBOX: "1" },
    },
    steps,
  };
  const words = inLoopback([process.execPath, program, JSON.stringify(asked)]);
  const { status, out, err } = await run(words, { cwd: fixture.project, env: fixture.environment });
  expect({ status, err }).toEqual({ status: 0, err: "" });
  return JSON.parse(out) as LoopbackAnswer;
}

const TOUCH: Step = {
  tool: "Bash",
  input: { command: "touch src/made", description: "make it" },
  isError: false,
  text: "",
};

test.skipIf(whyNot !== null)(
  "allowed tools run, in the hook's session; denied ones are not run and say why",
  async () => {
    const path = (name: string): string => join(fixture.project, name);
    const told = await claude([
      TOUCH,
      {
        tool: "Bash",
        input: { command: "cat src/a.txt", description: "show it" },
        isError: false,
        text: "the first line",
      },
      { tool: "Bash", input: { command: "ls missing", description: "fail" }, isError: true, text: "missing" },
      { tool: "Read", input: { file_path: path("src/a.txt") }, isError: false, text: "the first line" },
      { tool: "Read", input: { file_path: "/etc/hostname" }, isError: true, text: "scope_violation" },
      {
        tool: "Bash",
        input: { command: "rm src/a.txt", description: "delete" },
        isError: true,
        text: "scope_violation",
      },
      { tool: "Write", input: { file_path: path(".claude/x"), content: "" }, isError: true, text: "self_modification" },
    ]);
    expect(told.results.map(({ text }) => text)).toHaveLength(7);
    expect(existsSync(made())).toBe(true);
    const decided = (await fixture.log({ agent: "coder", kind: "decision" })).filter(({ session }) => session !== null);
    const ofShell = decided.filter(({ tool, outcome }) => tool === "shell" && outcome === "allow");
    expect(ofShell.length).toBeGreaterThanOrEqual(3);
    expect(new Set(decided.slice(-7).map(({ session }) => session)).size).toBe(1);
  },
);

describe.skipIf(whyNot !== null)("no tool runs when the hook", () => {
  const broken = async (change: (command: string) => string, timeout = 5): Promise<void> => {
    const before = readFileSync(settings(), "utf8");
    try {
      const value = JSON.parse(before) as {
        hooks: { PreToolUse: { hooks: { command: string; timeout: number }[] }[] };
      };
      for (const hook of value.hooks.PreToolUse.flatMap(({ hooks }) => hooks))
        Object.assign(hook, { command: change(hook.command), timeout });
      writeFileSync(settings(), JSON.stringify(value));
      const { results } = await claude([{ ...TOUCH, isError: true }]);
      expect(results).toHaveLength(1);
      expect(existsSync(made())).toBe(false);
    } finally {
      writeFileSync(settings(), before);
    }
  };
  test.each<[string, (command: string) => string]>([
    ["exits with 1", () => "exit 1"],
    ["exits with 127", () => "/nonexistent/program"],
    ["says nothing with status 2", () => "exit 2"],
    ["is killed", () => "kill -9 $$"],
    ["does not end", () => "sleep 60"],
    ["has lost its programs", (command) => command.replaceAll(/\/[^ ']*\/(ambit-native|ambit)\b/g, "/nonexistent/$1")],
    [
      "asks a daemon that is not there",
      (command) =>
        command
          .replaceAll(/\/[^ ']*\/daemon\b/g, "/nonexistent/daemon")
          .replaceAll(/\/[^ ']*\/bin\/ambit\b/g, "/nonexistent/ambit"),
    ],
    ["names an agent that is not there", (command) => command.replaceAll(" coder ", " absent ")],
  ])("%s", async (_, change) => broken(change));

  test("finds the daemon's disk full", async () => {
    await fixture.withFullDisk(() => claude([{ ...TOUCH, isError: true }]));
    expect(existsSync(made())).toBe(false);
  });

  test("gets no answer of the daemon before its deadline", async () => {
    await fixture.withHaltedDaemon(() => broken((command) => command.replace(" 110000 ", " 1000 ")));
  });

  test("is answered with garbage", async () => {
    await broken((command) => command.replace(/; \S*ambit-native\b[^;]*; s=\$\?/, () => "; echo '{'; s=1"));
  });
});

test.skipIf(whyNot !== null)(
  "tools of our server are decided by it, and those of another of its name by the hook",
  async () => {
    const connected = await fixture.ambitAtTerminal("connect", "claude", "--agent", "coder", "--yes", "--mcp");
    expect(connected.status).toBe(0);
    const path = join(fixture.project, "src", "a.txt");
    const read = (isError: boolean, text: string, at = path): Step => ({
      ...{ tool: "mcp__ambit__fs_read", input: { path: at }, isError, text },
    });
    const { results, tools } = await claude([
      read(false, "the first line"),
      read(true, "scope_violation", "/etc/hostname"),
    ]);
    expect(results).toHaveLength(2);
    expect(tools).toContain("mcp__ambit__fs_read");
    const servers = join(fixture.project, ".mcp.json");
    const other = { command: process.execPath, args: [fakeServer] };
    writeFileSync(servers, JSON.stringify({ mcpServers: { ambit: other } }));
    const faked = await claude([read(true, "denied mcp__ambit__fs_read")]);
    expect(faked.results).toHaveLength(1);
    expect(faked.tools).toContain("mcp__ambit__fs_read");
    rmSync(servers);
  },
);

test.skipIf(whyNot !== null)("without a hook, its headless prompts are answered by the record", async () => {
  const [command, ...args] = plainServerWords("coder");
  const env = Object.fromEntries(Object.entries(fixture.environment).map(([name, value]) => [name, value ?? ""]));
  const servers = { mcpServers: { ambit: { type: "stdio", command, args: [...args, "--prompt-tool"], env } } };
  const input = (path: string): object => ({ file_path: path, content: "x" });
  const { results } = await claude(
    [
      TOUCH,
      { tool: "Write", input: input(join(fixture.project, "src", "written")), isError: false, text: "" },
      { tool: "Write", input: input(join(fixture.base, "outside")), isError: true, text: "scope_violation" },
      {
        tool: "Bash",
        input: { command: "rm src/made", description: "delete" },
        isError: true,
        text: "scope_violation",
      },
    ],
    [
      ...["--permission-mode", "default", "--setting-sources", ""],
      ...["--mcp-config", JSON.stringify(servers), "--strict-mcp-config"],
      ...["--permission-prompt-tool", "mcp__ambit__approve_tool_call"],
    ],
  );
  expect(results).toHaveLength(4);
  expect([existsSync(made()), existsSync(join(fixture.project, "src", "written"))]).toEqual([true, true]);
  expect(existsSync(join(fixture.base, "outside"))).toBe(false);
});

test.skipIf(whyNot !== null)(
  "a rule for a folder ignores case, and follows links: why only whole folders are compiled",
  async () => {
    for (const [name, text] of [
      ["out/a.txt", "first"],
      ["OUT/a.txt", "second"],
      ["elsewhere/a.txt", "third"],
    ] as const)
      fixture.write(name, text);
    symlinkSync(join(fixture.base, "elsewhere", "a.txt"), join(fixture.base, "out", "link"));
    const folder = join(fixture.base, "home", "claude");
    mkdirSync(folder, { recursive: true });
    const rules = { allow: [`Read(/${fixture.base}/out/**)`] };
    writeFileSync(join(folder, "settings.json"), JSON.stringify({ [LISTS]: rules }));
    const read = (path: string, isError: boolean, text: string): Step => ({
      ...{ tool: "Read", input: { file_path: join(fixture.base, path) }, isError, text },
    });
    const steps = [
      read("out/a.txt", false, "first"),
      read("OUT/a.txt", false, "second"),
      read("out/link", true, "denied"),
    ];
    const { results } = await claude(steps, ["--permission-mode", "dontAsk", "--setting-sources", "user"]);
    expect(results).toHaveLength(3);
  },
);

/** Named in the docs: our line prints a whole answer or none. */
test.skipIf(whyNot !== null)("an answer that is cut off counts as none", async () => {
  const before = readFileSync(settings(), "utf8");
  const literal = /"(: ambit-hook (?:[^"\\]|\\.)*)"/.exec(before)?.[0] ?? "";
  try {
    writeFileSync(
      settings(),
      before.replace(literal, () => JSON.stringify("echo '{\"decision\":'")),
    );
    await claude([TOUCH]);
    expect(existsSync(made())).toBe(true);
  } finally {
    writeFileSync(settings(), before);
  }
});

const LISTS = "permissions";

/** A server of MCP that is not ours, with one tool. */
const FAKE_SERVER = `import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const tool = { name: "fs_read", description: "read", inputSchema: { type: "object" } };
  const result = method === "initialize"
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "ambit", version: "1" } }
    : method === "tools/list" ? { tools: [tool] } : { content: [{ type: "text", text: "the fake server ran" }] };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
}
`;
