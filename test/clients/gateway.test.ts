// A server of others through the gateway, for clients that we did not write: the inspector over stdio and HTTP, the SDKs of both
// generations, and the real Claude Code, Codex and opencode on a scripted model. Each calls a tool that is allowed, is denied another
// call of it, and both are in the log.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelProvider } from "../../src/clients/trial/model-providers.ts";
import { root } from "../e2e/ambit.ts";
import { bundleProgram } from "../e2e/bundle.ts";
import { Fixture } from "../state/fixture.ts";
import type { AgentLoopbackInput, AgentLoopbackOutput } from "./agent-loopback-main.ts";
import { type AgentStep, PROMPT } from "./agent-model.ts";
import { inLoopback, whyNoLoopback } from "./loopback.ts";
import { inspector, newerNode, wholeClients } from "./place.ts";
import { run } from "./run.ts";
import { plainServerWords, serverWords } from "./server-words.ts";

let fixture: Fixture;
let program: string;
let serving: ChildProcess | null = null;
const path = (name: string): string => join(fixture.project, name);
const variables = (): Record<string, string> =>
  Object.fromEntries(Object.entries(fixture.environment).map(([name, value]) => [name, value ?? ""]));

beforeAll(async () => {
  program = await bundleProgram(fileURLToPath(new URL("./agent-loopback-main.ts", import.meta.url)));
  fixture = await Fixture.make();
  fixture.write("project/docs/a.txt", "of the docs\n");
  fixture.write("project/private/key", "the private key\n");
  const server = join(root, "test", "mcp", "servers");
  // Its walls show both files: what is denied is denied by the agent's grants.
  fixture.write(
    "config/ambit/mcp.yml",
    `servers:
  plain:
    command: [node, "${join(server, "plain.mjs")}"]
    requires: [{ fs.read: { in: "${fixture.project}" } }]
    runtime: ["${server}"]
    tools: { read: { fs.read: $.path } }
`,
  );
  fixture.agent("scout", ["fs.read{in=docs}", "tool.invoke{tools=[plain__read,plain__echo]}"]);
  fixture.write("home/.codex/config.toml", `[projects."${fixture.project}"]\ntrust_level = "trusted"\n`);
  mkdirSync(join(fixture.base, "home"), { recursive: true });
  await fixture.begin();
}, 120_000);
afterAll(async () => {
  serving?.kill("SIGTERM");
  await fixture?.remove();
});

/** Decisions about the server's tools since the last look: how many were allowed, and the codes of the others. */
async function decided(): Promise<readonly unknown[]> {
  const all = await fixture.log({ kind: "decision", agent: "scout" });
  const seen = all.filter(({ tool }) => tool === "plain__read").map(({ outcome, code }) => [outcome, code]);
  const fresh = seen.slice(looked);
  looked = seen.length;
  return fresh;
}
let looked = 0;
const BOTH = [
  ["allow", null],
  ["deny", "scope_violation"],
];

interface Answer {
  readonly content: readonly { readonly text?: string }[];
  readonly isError?: boolean;
  readonly structuredContent?: Readonly<Record<string, unknown>>;
}

describe("the inspector", () => {
  const inspect = async (target: readonly string[], file: string): Promise<Answer> => {
    const input = JSON.stringify({ path: file });
    const options = ["--method", "tools/call", "--tool-name", "plain__read", "--tool-args-json", input];
    const env = { ...variables(), HOME: join(fixture.base, "home") };
    const words = [newerNode, inspector, "--cli", "--format", "json", ...options, ...target];
    const { out } = await run(words, { cwd: fixture.base, env });
    return (JSON.parse(out) as { readonly result: Answer }).result;
  };
  const check = async (target: readonly string[]): Promise<void> => {
    await decided();
    expect(await inspect(target, path("docs/a.txt"))).toMatchObject({ content: [{ text: "of the docs\n" }] });
    const denied = await inspect(target, path("private/key"));
    expect(denied).toMatchObject({ isError: true, structuredContent: { code: "scope_violation" } });
    expect(JSON.stringify(denied)).not.toContain("the private key");
    expect(await decided()).toEqual(BOTH);
  };

  test("over stdio", async () => {
    const given = Object.entries(variables()).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    await check([...given, "--cwd", fixture.project, "--", ...serverWords("scout")]);
  });

  test("over HTTP, with a token", async () => {
    const words = ["mcp", "serve", "--http", "127.0.0.1:0"];
    const child = spawn(process.execPath, [join(root, "bin", "ambit"), ...words], {
      ...{ cwd: fixture.project, env: fixture.environment, stdio: ["ignore", "pipe", "pipe"] },
    });
    serving = child;
    const port = await new Promise<string>((found) => {
      let text = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (part: Buffer) => {
          text += part;
          const [, number] = /127\.0\.0\.1:(\d+)/.exec(text) ?? [];
          if (number !== undefined) found(number);
        });
    });
    const { token } = JSON.parse((await fixture.ambit("tokens", "add", "scout", "--json")).out) as { token: string };
    await check([
      "--transport",
      "http",
      "--server-url",
      `http://127.0.0.1:${port}/mcp`,
      "--header",
      `Authorization: Bearer ${token}`,
    ]);
    const ended = once(child, "close");
    child.kill("SIGTERM");
    await ended;
  });
});

describe("the SDK", () => {
  const server = (): {
    command: string;
    args: string[];
    env: Record<string, string>;
    cwd: string;
    stderr: "ignore";
  } => {
    const [command = "", ...args] = serverWords("scout");
    return { command, args, env: variables(), cwd: fixture.project, stderr: "ignore" };
  };
  const WHO = { name: "test", version: "0" };

  test.each([
    ["newer, newer era", { pin: "2026-07-28" }],
    ["newer, older era", "legacy"],
    ["older", null],
  ] as const)("%s", async (_, mode) => {
    await decided();
    const older = new OlderClient(WHO);
    const newer = mode === null ? null : new Client(WHO, { versionNegotiation: { mode } });
    if (newer === null) await older.connect(new OlderTransport(server()));
    else await newer.connect(new StdioClientTransport(server()));
    const call = async (file: string): Promise<Answer> =>
      (await (newer ?? older).callTool({ name: "plain__read", arguments: { path: file } })) as unknown as Answer;
    expect(await call(path("docs/a.txt"))).toMatchObject({ content: [{ text: "of the docs\n" }] });
    expect(await call(path("private/key"))).toMatchObject({
      isError: true,
      structuredContent: { code: "scope_violation" },
    });
    await (newer ?? older).close();
    expect(await decided()).toEqual(BOTH);
  });
});

type Name = "claude" | "codex" | "opencode";

interface GatewayClient {
  readonly provider: ModelProvider;
  words(program: string): readonly string[];
  environment(): Readonly<Record<string, string>>;
}

const LOCAL = '{name="local",base_url="http://127.0.0.1:{port}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}';

/** Each has ambit as its one server, and nothing else is asked of a person. */
const CLIENTS: Readonly<Record<Name, GatewayClient>> = {
  claude: {
    provider: "anthropic",
    words: (client) => {
      const [command, ...args] = plainServerWords("scout");
      const servers = { mcpServers: { ambit: { type: "stdio", command, args, env: variables() } } };
      return [
        ...[client, "--mcp-config", JSON.stringify(servers), "--strict-mcp-config", "--setting-sources", ""],
        ...["--permission-mode", "bypassPermissions", "--no-session-persistence", "-p", PROMPT],
      ];
    },
    environment: () => ({
      ...{ ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: "http://127.0.0.1:{port}", IS_SANDBOX: "1" },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", ENABLE_TOOL_SEARCH: "false" },
    }),
  },
  codex: {
    provider: "openai",
    words: (client) => {
      const [command = "", ...args] = plainServerWords("scout");
      const settings = [
        `mcp_servers.ambit.command=${JSON.stringify(command)}`,
        `mcp_servers.ambit.args=${JSON.stringify(args)}`,
        `mcp_servers.ambit.env={${Object.entries(variables())
          .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
          .join(",")}}`,
        'mcp_servers.ambit.default_tools_approval_mode="approve"',
        ...["sandbox_mode=danger-full-access", "approval_policy=never", "model_provider=local"],
        `model_providers.local=${LOCAL}`,
      ].flatMap((one) => ["-c", one]);
      return [client, "exec", "-m", "gpt-5.1-codex", "--skip-git-repo-check", ...settings, PROMPT];
    },
    environment: () => ({ OPENAI_API_KEY: "none" }),
  },
  opencode: {
    provider: "anthropic",
    words: (client) => [client, "run", "-m", "anthropic/claude-sonnet-4-5", PROMPT],
    environment: () => ({
      ...{ ANTHROPIC_API_KEY: "none", OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        provider: { anthropic: { options: { baseURL: "http://127.0.0.1:{port}/v1" } } },
        mcp: { ambit: { type: "local", command: plainServerWords("scout"), environment: variables(), enabled: true } },
      }),
    }),
  },
};

const whyNot = whyNoLoopback();
if (whyNot !== null) console.error(`skipped: ${whyNot}`);
const clientMillisecondsMax = 100_000;

describe.each(Object.keys(CLIENTS) as readonly Name[])("%s", (name) => {
  const client = wholeClients[name];

  test.skipIf(whyNot !== null || client === null)("calls the server's tool, is denied, and continues", async () => {
    await decided();
    const home = join(fixture.base, "home");
    const { provider, words, environment } = CLIENTS[name];
    const steps: readonly AgentStep[] = [
      { mcp: "plain__read", input: { path: path("docs/a.txt") }, text: "of the docs" },
      { mcp: "plain__read", input: { path: path("private/key") }, text: "scope_violation" },
      { mcp: "plain__echo", input: { value: "still there" }, text: "still there" },
    ];
    const asked: AgentLoopbackInput = {
      ...{ words: words(client ?? ""), provider, steps, cwd: fixture.project, millisecondsMax: clientMillisecondsMax },
      environment: {
        ...{ ...variables(), HOME: home, XDG_DATA_HOME: join(home, "data"), XDG_CACHE_HOME: join(home, "cache") },
        ...{ CLAUDE_CONFIG_DIR: join(home, "claude"), CLAUDE_CODE_TMPDIR: home, ...environment() },
      },
    };
    const lines = inLoopback([process.execPath, program, JSON.stringify(asked)]);
    const { status, out, err } = await run(lines, { cwd: fixture.project, env: fixture.environment });
    expect({ status, err }).toEqual({ status: 0, err: "" });
    const told = JSON.parse(out) as AgentLoopbackOutput;
    expect({
      problems: told.problems,
      calls: told.results.length,
      err: told.results.length === 3 ? "" : told.ran,
    }).toEqual({
      ...{ problems: [], calls: 3, err: "" },
    });
    expect(told.results.join("\n")).not.toContain("the private key");
    expect(await decided()).toEqual(BOTH);
    expect(readFileSync(path("private/key"), "utf8")).toBe("the private key\n");
  });
});
