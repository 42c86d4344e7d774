// The real Codex, opencode, Gemini CLI and Copilot CLI, and sub-agents of Claude Code, with our hook in their settings, on a scripted model and
// loopback alone: allowed commands run in the sandbox, denied ones do not; and what each client does when its hook fails.
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ModelProvider } from "../../src/clients/trial/model-providers.ts";
import { bundleProgram } from "../e2e/bundle.ts";
import { Fixture } from "../state/fixture.ts";
import type { AgentLoopbackInput, AgentLoopbackOutput } from "./agent-loopback-main.ts";
import { type AgentStep, PROMPT } from "./agent-model.ts";
import { inLoopback, whyNoLoopback } from "./loopback.ts";
import { claudeCode, copilot, newerNode, wholeClients } from "./place.ts";
import { run } from "./run.ts";

type Name = "codex" | "opencode" | "gemini" | "copilot";
const PROGRAMS = { ...wholeClients, copilot };

interface HookedClient {
  readonly provider: ModelProvider;
  /** Everything is allowed beforehand: what does not run was stopped by the hook. */
  words(program: string): readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The file with the hook's line, below the project. */
  readonly settings: string;
  /** Failures of the line itself after which the client runs the tool. */
  readonly runsAfter: readonly Failure[];
}

const LOCAL = '{name="local",base_url="http://127.0.0.1:{port}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}';
const PROVIDERS = JSON.stringify({ provider: { anthropic: { options: { baseURL: "http://127.0.0.1:{port}/v1" } } } });

const CLIENTS: Readonly<Record<Name, HookedClient>> = {
  codex: {
    provider: "openai",
    words: (program) => [
      ...[program, "exec", "-m", "gpt-5.1-codex", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"],
      ...["-c", "sandbox_mode=danger-full-access", "-c", "approval_policy=never", "-c", "model_provider=local"],
      ...["-c", `model_providers.local=${LOCAL}`, PROMPT],
    ],
    environment: { OPENAI_API_KEY: "none" },
    settings: ".codex/hooks.json",
    runsAfter: [
      "exits with 1",
      "is not there",
      "is killed",
      "prints no JSON",
      "says nothing with status 2",
      "does not end",
    ],
  },
  opencode: {
    provider: "anthropic",
    words: (program) => [program, "run", "-m", "anthropic/claude-sonnet-4-5", PROMPT],
    environment: {
      ...{ ANTHROPIC_API_KEY: "none", OPENCODE_CONFIG_CONTENT: PROVIDERS, OPENCODE_DISABLE_AUTOUPDATE: "1" },
      ...{ OPENCODE_DISABLE_MODELS_FETCH: "1", NPM_CONFIG_FETCH_RETRIES: "0" },
    },
    settings: ".opencode/plugin/ambit.js",
    runsAfter: [],
  },
  gemini: {
    provider: "gemini",
    words: (program) => [newerNode, realpathSync(program), "-m", "gemini-2.5-pro", "-p", PROMPT, "--yolo"],
    environment: {
      ...{ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:{port}", GEMINI_CLI_NO_RELAUNCH: "true" },
      ...{ GEMINI_SANDBOX: "false", GEMINI_CLI_TRUST_WORKSPACE: "true" },
    },
    settings: ".gemini/settings.json",
    runsAfter: ["exits with 1", "is killed", "prints no JSON", "says nothing with status 2", "does not end"],
  },
  copilot: {
    provider: "anthropic",
    words: (program) => [program, "--prompt", PROMPT, "--allow-all-tools", "--trust-folder", "--no-auto-update"],
    environment: {
      ...{ COPILOT_OFFLINE: "true", COPILOT_MODEL: "claude-sonnet-4.5", COPILOT_PROVIDER_TYPE: "anthropic" },
      ...{ COPILOT_PROVIDER_BASE_URL: "http://127.0.0.1:{port}", COPILOT_PROVIDER_API_KEY: "none" },
    },
    settings: ".github/hooks/ambit.json",
    runsAfter: ["prints no JSON", "does not end"],
  },
};

type Failure = keyof typeof LINES;
/** Our whole line is replaced: what a client does without us. */
const LINES = {
  "exits with 1": "exit 1",
  "is not there": "/nonexistent/program",
  "is killed": "kill -9 $$",
  "prints no JSON": "echo '{\"decision\":'",
  "says nothing with status 2": "exit 2",
  "does not end": "sleep 40",
} as const;

const whyNot = whyNoLoopback();
if (whyNot !== null) console.error(`skipped: ${whyNot}`);

let fixture: Fixture;
let program: string;
const made = (): string => join(fixture.project, "src", "made");

beforeAll(async () => {
  program = await bundleProgram(fileURLToPath(new URL("./agent-loopback-main.ts", import.meta.url)));
  fixture = await Fixture.make();
  fixture.agent("coder", ["fs.read", "fs.write", "proc.exec{cmds=[touch,cat],root=rw}"], "sandbox: .\n");
  fixture.agent("reviewer", [`fs.read{in=${fixture.project}}`, `proc.exec{in=${fixture.project},cmds=[cat,ls]}`]);
  fixture.agent("reader", [`fs.read{in=${fixture.project}}`]);
  fixture.write("project/src/a.txt", "the first line\n");
  fixture.write("home/.gemini/settings.json", '{"security":{"auth":{"selectedType":"gemini-api-key"}}}');
  fixture.write("home/.npmrc", "fetch-retries=0\n");
  fixture.write("home/.codex/config.toml", `[projects."${fixture.project}"]\ntrust_level = "trusted"\n`);
  await fixture.begin();
});
beforeEach(() => rmSync(made(), { force: true }));
afterAll(() => fixture?.remove());

const clientMillisecondsMax = 75_000;

function client(name: Name, steps: readonly AgentStep[]): Promise<AgentLoopbackOutput> {
  const { provider, words, environment } = CLIENTS[name];
  return inNamespace({ words: words(PROGRAMS[name] ?? ""), provider, steps, environment });
}

async function inNamespace(
  client: Pick<AgentLoopbackInput, "words" | "provider" | "steps" | "environment">,
): Promise<AgentLoopbackOutput> {
  const home = join(fixture.base, "home");
  const asked: AgentLoopbackInput = {
    ...{ ...client, cwd: fixture.project, millisecondsMax: clientMillisecondsMax },
    environment: {
      ...Object.fromEntries(Object.entries(fixture.environment).map(([key, value]) => [key, value ?? ""])),
      ...{ HOME: home, XDG_DATA_HOME: join(home, "data"), XDG_CACHE_HOME: join(home, "cache"), ...client.environment },
    },
  };
  const lines = inLoopback([process.execPath, program, JSON.stringify(asked)]);
  const { status, out, err } = await run(lines, { cwd: fixture.project, env: fixture.environment });
  expect({ status, err }).toEqual({ status: 0, err: "" });
  return JSON.parse(out) as AgentLoopbackOutput;
}

/** Our program in the line, which an error of its own ends. */
const FIRST = /; \S*ambit-native\b[^;]*; s=\$\?/;

type During = (act: () => Promise<unknown>) => Promise<unknown>;

const TOUCH: AgentStep = { shell: "touch src/made", text: "" };

describe.each(Object.keys(CLIENTS) as readonly Name[])("%s", (name) => {
  const { settings: file, runsAfter } = CLIENTS[name];
  const isSkipped = whyNot !== null || PROGRAMS[name] === null;
  const settings = (): string => join(fixture.project, file);
  beforeAll(async () => {
    if (isSkipped) return;
    const connected = await fixture.ambitAtTerminal("connect", name, "--agent", "coder", "--yes", "--project");
    if (connected.status !== 0) throw new Error(connected.out);
  });
  afterAll(async () => {
    if (!isSkipped) await fixture.ambitAtTerminal("disconnect", name, "--project");
  });

  test.skipIf(isSkipped)(
    "allowed commands run in the sandbox; denied ones do not run, and the model reads why",
    async () => {
      const told = await client(name, [
        TOUCH,
        { shell: "cat src/a.txt", text: "the first line" },
        { shell: "rm src/a.txt", text: "denied" },
        // Allowed as a program: in the sandbox there is no such file.
        { shell: "cat /etc/hostname", text: "No such file" },
      ]);
      expect(told.problems).toEqual([]);
      expect(told.results).toHaveLength(4);
      expect([existsSync(made()), existsSync(join(fixture.project, "src", "a.txt"))]).toEqual([true, true]);
      const shells = (await fixture.log({ agent: "coder", kind: "decision" })).filter(({ tool }) => tool === "shell");
      expect(shells.filter(({ outcome }) => outcome === "allow").length).toBeGreaterThanOrEqual(2);
    },
  );

  /** The hook's line, and the client's own timeout, changed in its settings. */
  const after = async (change: (command: string) => string, during: During = (act) => act()): Promise<boolean> => {
    const before = readFileSync(settings(), "utf8");
    const literal = /"(: ambit-hook (?:[^"\\]|\\.)*)"/.exec(before)?.[0] ?? "";
    const original = JSON.parse(literal) as string;
    const command = change(original);
    expect(command).not.toBe(original);
    try {
      writeFileSync(
        settings(),
        before
          .replace(literal, () => JSON.stringify(command))
          .replace('"timeout": 120000', '"timeout": 4000')
          .replace('"timeout": 120', '"timeout": 4')
          .replace('"timeoutSec": 120', '"timeoutSec": 4'),
      );
      await during(() => client(name, [TOUCH]));
      return existsSync(made());
    } finally {
      writeFileSync(settings(), before);
    }
  };

  test.skipIf(isSkipped).each<[string, (command: string) => string]>([
    ["our programs are gone", (line) => line.replaceAll(/\/[^ ']*\/(ambit-native|ambit)\b/g, "/nonexistent/$1")],
    ["our program is killed", (line) => line.replace(FIRST, () => "; sh -c 'kill -9 $$'; s=$?")],
    [
      "there is no daemon, and none can be started",
      (line) =>
        line
          .replaceAll(/\/[^ ']*\/daemon\b/g, "/nonexistent/daemon")
          .replaceAll(/\/[^ ']*\/bin\/ambit\b/g, "/nonexistent/ambit"),
    ],
    ["its agent is not there", (line) => line.replaceAll(" coder ", " absent ")],
    ["our program prints garbage and fails", (line) => line.replace(FIRST, () => "; echo '{'; s=1")],
  ])("no tool runs when %s", async (_, change) => {
    expect(await after(change)).toBe(false);
  });

  test.skipIf(isSkipped)("no tool runs when the disk of the daemon is full", async () => {
    await fixture.withFullDisk(() => client(name, [TOUCH]));
    expect(existsSync(made())).toBe(false);
  });

  test.skipIf(isSkipped)("no tool runs when the daemon does not answer before the hook's deadline", async () => {
    const change = (line: string): string => line.replace(" 110000 ", " 1000 ");
    expect(await after(change, (act) => fixture.withHaltedDaemon(act))).toBe(false);
  });

  test.skipIf(isSkipped).each(Object.keys(LINES) as readonly Failure[])("when the line itself %s", async (failure) => {
    expect(await after(() => LINES[failure])).toBe(runsAfter.includes(failure));
  });
});

describe.each(["opencode", "gemini", "copilot"] as const)("%s with our server besides", (name) => {
  const isSkipped = whyNot !== null || PROGRAMS[name] === null;
  test.skipIf(isSkipped)("leaves calls of its tools to the server, which decides them", async () => {
    const words = ["connect", name, "--agent", "coder", "--yes", "--project", "--mcp", "--no-verify"];
    const connected = await fixture.ambitAtTerminal(...words);
    expect({ out: connected.out, status: connected.status }).toMatchObject({ status: 0 });
    const told = await client(name, [
      { mcp: "fs_read", input: { path: "src/a.txt" }, text: "the first line" },
      { mcp: "fs_read", input: { path: "/etc/hostname" }, text: "denied" },
    ]);
    expect(told.problems).toEqual([]);
    expect(told.results).toHaveLength(2);
    await fixture.ambitAtTerminal("disconnect", name, "--project");
  });
});

describe.skipIf(whyNot !== null || wholeClients.gemini === null)("the compiled policy of Gemini CLI", () => {
  const policies = (): string => join(fixture.base, "home", ".gemini", "policies");
  const compiled = async (agent: string): Promise<readonly string[]> => {
    const options = { cwd: fixture.project, env: fixture.environment };
    const { status, out } = await run(fixture.words("compile", "gemini", "--agent", agent), options);
    expect(status).toBe(0);
    mkdirSync(policies(), { recursive: true });
    writeFileSync(join(policies(), "ambit.toml"), out);
    return [...out.matchAll(/^toolName = "(.*)"$/gm)].map(([, name = ""]) => name);
  };
  afterAll(() => rmSync(policies(), { recursive: true, force: true }));

  test("is taken without a complaint, and denies what the record does not grant, also with --yolo", async () => {
    const before = await client("gemini", [TOUCH]);
    expect(existsSync(made())).toBe(true);
    rmSync(made());
    const denied = await compiled("reader");
    expect(denied).toContain("run_shell_command");
    const told = await client("gemini", [TOUCH]);
    expect(existsSync(made())).toBe(false);
    expect(told.ran.err).not.toMatch(/polic/i);
    // Names of tools that this version has: another name would deny nothing.
    expect(before.offered).toEqual(expect.arrayContaining([...denied]));
    expect(told.offered.filter((name) => denied.includes(name))).toEqual([]);
    expect(told.offered).toContain("read_file");
  });

  test("leaves what the record grants to the hook", async () => {
    expect(await compiled("coder")).not.toContain("run_shell_command");
    await client("gemini", [TOUCH]);
    expect(existsSync(made())).toBe(true);
  });
});

describe.skipIf(whyNot !== null || claudeCode === null)("a sub-agent of Claude Code", () => {
  beforeAll(async () => {
    const connected = await fixture.ambitAtTerminal("connect", "claude", "--agent", "coder", "--yes", "--project");
    if (connected.status !== 0) throw new Error(connected.out);
    fixture.write("project/.claude/agents/reviewer.md", "---\nname: reviewer\ndescription: reviews\n---\nReview.\n");
  });

  const words = [
    claudeCode ?? "",
    "--print",
    PROMPT,
    "--permission-mode",
    "bypassPermissions",
    "--no-session-persistence",
  ];
  const claude = (step: AgentStep): Promise<AgentLoopbackOutput> =>
    inNamespace({
      ...{ words, provider: "anthropic", steps: [step] },
      environment: {
        ...{ ANTHROPIC_BASE_URL: "http://127.0.0.1:{port}", ANTHROPIC_API_KEY: "none", IS_SANDBOX: "1" },
        ...{ CLAUDE_CONFIG_DIR: join(fixture.base, "home", "claude"), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
      },
    });

  test.each([
    ["that is called like a record has that record", "reviewer", "touch src/made", "denied", false],
    ["keeps what both allow", "reviewer", "cat src/a.txt", "the first line", false],
    ["of another name has the grants of its client's agent", "general-purpose", "touch src/made", "", true],
  ] as const)("%s", async (_, kind, line, text, isMade) => {
    const { subResults, problems } = await claude({ agent: line, kind, text: "" });
    expect(problems).toEqual([]);
    expect(subResults).toHaveLength(1);
    expect(subResults[0]).toContain(text);
    expect(existsSync(made())).toBe(isMade);
  });

  test("is in the log with both names", async () => {
    const entries = await fixture.log({ agent: "reviewer", kind: "decision" });
    expect(entries.length).toBeGreaterThanOrEqual(2);
    for (const { agents } of entries) expect(agents).toEqual(["coder", "reviewer"]);
  });
});
