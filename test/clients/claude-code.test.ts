// The real Claude Code, with ambit's tools and no others: it calls one, is denied another and told why, and continues. The model
// is scripted; there is no network but loopback.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleProgram } from "../e2e/bundle.ts";
import { Fixture } from "../state/fixture.ts";
import { inLoopback, whyNoLoopback } from "./loopback.ts";
import type { LoopbackAnswer, LoopbackRequest } from "./loopback-main.ts";
import { claudeCode } from "./place.ts";
import { type Ran, run } from "./run.ts";
import type { Step } from "./scripted-model.ts";
import { plainServerWords } from "./server-words.ts";

const whyNot = claudeCode === null ? "Claude Code is not made for this machine" : whyNoLoopback();
if (whyNot !== null) console.error(`skipped: ${whyNot}`);

let fixture: Fixture;
let program: string;

beforeAll(async () => {
  program = await bundleProgram(fileURLToPath(new URL("./loopback-main.ts", import.meta.url)));
  fixture = await Fixture.make();
  fixture.agent("scout", ["fs.read{in=.}", "memory.read{keys=[notes/**]}", "proc.exec{cmds=[env]}"], "sandbox: .\n");
  fixture.agent("reader", ["fs.read{in=.}", "memory.read"]);
  fixture.write("project/a.txt", "the first line\n");
  fixture.write("project/b.txt", "the second line\n");
  await fixture.begin();
});
afterAll(async () => {
  await fixture?.remove();
});

const DENIED = "denied: memory.read diary/today (scope_violation)";
const STEPS: readonly Step[] = [
  { tool: "mcp__ambit__fs_read", input: { path: "a.txt" }, isError: false, text: "the first line" },
  { tool: "mcp__ambit__memory_get", input: { key: "diary/today" }, isError: true, text: DENIED },
  { tool: "mcp__ambit__fs_read", input: { path: "b.txt" }, isError: false, text: "the second line" },
  { tool: "mcp__ambit__proc_exec", input: { argv: ["env"], in: ".", root: "ro" }, isError: false, text: "PATH=" },
];

test.skipIf(whyNot !== null)("it calls, is denied and told why, and continues", async () => {
  const { ran, networks, tools, results } = await claude("scout");
  expect(networks).toEqual(["lo"]);
  expect(ended(ran)).toMatchObject({ subtype: "success", is_error: false, result: "the script is over" });
  // The scripted model would have stopped at any other result.
  expect(results).toHaveLength(STEPS.length);
  expect(results[1]).toMatchObject({ isError: true, text: expect.stringMatching(/^denied: .*\nid: c_\w+$/s) });
  // Claude Code passes its whole environment to a server.
  expect(results.map(({ text }) => text).join("\n")).not.toMatch(/ANTHROPIC|CLAUDE/);
  const ours = tools.filter((name) => name.startsWith("mcp__ambit__"));
  expect(ours).toEqual(tools);
  expect(ours).toEqual(expect.arrayContaining(STEPS.map(({ tool }) => tool)));
  for (const name of ["memory_set", "obs_append", "proc_eval"]) expect(ours).not.toContain(`mcp__ambit__${name}`);

  // The client lists prompts when it connects; they are the agent's skills.
  const logged = await fixture.log({ kind: "decision", agent: "scout" });
  const decisions = logged.filter(({ tool }) => tool !== "skills_list");
  expect(decisions.map(({ tool, outcome, code }) => [tool, outcome, code])).toEqual([
    ["fs_read", "allow", null],
    ["memory_get", "deny", "scope_violation"],
    ["fs_read", "allow", null],
    ["proc_exec", "allow", null],
  ]);
  // One session for all of it, and the id the model was given is the logged one.
  expect(new Set(decisions.map(({ session }) => session)).size).toBe(1);
  expect(results[1]?.text).toContain(`id: ${decisions[1]?.id}`);
});

test.skipIf(whyNot !== null)(
  "an agent with more grants is not denied, so that the script does not complete",
  async () => {
    const { ran, results } = await claude("reader");
    expect(ended(ran)["result"]).toMatch(/^unexpected: /);
    expect(results.map(({ isError }) => isError)).toEqual([false, false]);
  },
);

function ended({ out, err, status }: Ran): Readonly<Record<string, unknown>> {
  expect({ status, err }).toEqual({ status: 0, err: "" });
  return JSON.parse(out) as Readonly<Record<string, unknown>>;
}

async function claude(agent: string): Promise<LoopbackAnswer> {
  const home = join(fixture.base, "home");
  mkdirSync(home, { recursive: true });
  const variables = Object.fromEntries(Object.entries(fixture.environment).map(([name, value]) => [name, value ?? ""]));
  const [command, ...args] = plainServerWords(agent);
  const servers = { mcpServers: { ambit: { type: "stdio", command, args, env: variables } } };
  const asked: LoopbackRequest = {
    words: [
      claudeCode ?? "",
      "--print",
      "go",
      ...["--tools", ""],
      ...["--mcp-config", JSON.stringify(servers), "--strict-mcp-config"],
      ...["--allowedTools", "mcp__ambit"],
      ...["--permission-mode", "dontAsk"],
      ...["--setting-sources", ""],
      "--no-session-persistence",
      ...["--output-format", "json"],
    ],
    cwd: fixture.project,
    environment: {
      ...variables,
      HOME: home,
      CLAUDE_CONFIG_DIR: join(home, "claude"),
      CLAUDE_CODE_TMPDIR: home,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // All tools are shown to the model from the beginning.
      ENABLE_TOOL_SEARCH: "false",
      // Root is refused otherwise.
      IS_SANDBOX: "1",
    },
    steps: STEPS,
  };
  const words = inLoopback([process.execPath, program, JSON.stringify(asked)]);
  const { status, out, err } = await run(words, { cwd: fixture.project, env: fixture.environment });
  expect({ status, err }).toEqual({ status: 0, err: "" });
  return JSON.parse(out) as LoopbackAnswer;
}
