// The tool for Claude Code's `--permission-prompt-tool`, through the built MCP server: decided by the agent's record and by our approvals.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { until } from "../house/until.ts";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  const grants = ["fs.read", "fs.write{paths=[docs/**],ask}", "proc.exec{cmds=[ls]}"];
  fixture.agent("coder", grants, "sandbox: .\n");
  await fixture.begin();
});
afterAll(() => fixture?.remove());

interface Reply {
  readonly id?: number;
  readonly result?: {
    readonly content?: readonly { readonly text: string }[];
    readonly tools?: readonly { readonly name: string }[];
  };
}

/** One client that lists the tools, calls one, and leaves. */
async function asked(
  words: readonly string[],
  name: string,
  input: object,
): Promise<{ readonly tools: readonly string[]; readonly text: string }> {
  const child = spawn(process.execPath, [join(root, "bin", "ambit"), "mcp", "serve", ...words], {
    ...{ cwd: fixture.project, env: fixture.environment, stdio: ["pipe", "pipe", "inherit"], detached: true },
  });
  const replies = new Map<number, (reply: Reply) => void>();
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    const reply = JSON.parse(line) as Reply;
    replies.get(reply.id ?? -1)?.(reply);
  });
  const ask = (id: number, method: string, params: object): Promise<Reply> => {
    const answer = new Promise<Reply>((give) => replies.set(id, give));
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return answer;
  };
  try {
    const clientInfo = { name: "test", version: "1" };
    await ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    const listed = await ask(2, "tools/list", {});
    const called = await ask(3, "tools/call", { name, arguments: input });
    const tools = listed.result?.tools?.map((one) => one.name) ?? [];
    return { tools, text: called.result?.content?.[0]?.text ?? JSON.stringify(called) };
  } finally {
    child.kill("SIGKILL");
  }
}

const TOOL = "approve_tool_call";
const SERVED = ["--agent", "coder", "--prompt-tool", "--wait", "20"];

async function answer(tool: string, input: object): Promise<Record<string, unknown>> {
  return JSON.parse((await asked(SERVED, TOOL, { tool_name: tool, input })).text) as Record<string, unknown>;
}

// First: after the others this process is itself a client, and no terminal that it makes is a person's.
test("a call that asks waits for our approval", async () => {
  const input = { file_path: join(fixture.project, "docs", "a"), content: "" };
  const message = (id: number, method: string, params: object): string =>
    JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const first = message(1, "initialize", {
    ...{ protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  });
  const call = message(2, "tools/call", { name: TOOL, arguments: { tool_name: "Write", input } });
  // A client of its own, which is no ancestor of the person's terminal.
  const line = `{ printf '%s\\n' "$0" "$1"; while ! [ -e "$2" ]; do sleep 0.1; done; } | { shift 2; "$@"; }`;
  const over = join(fixture.base, "over");
  const words = fixture.words("mcp", "serve", ...SERVED);
  const waiting = fixture.caller().spawn(fixture.project, "sh", "-c", line, first, call, over, ...words);
  await until(async () => (await fixture.approvals("pending")).length === 1, "the call waits");
  const [approval] = await fixture.approvals("pending");
  const approved = await fixture.ambitAtTerminal("approve", approval?.id ?? "", "--yes");
  expect([approved.status, approved.out]).toEqual([0, expect.anything()]);
  await until(
    async () => (await fixture.log({ agent: "coder", outcome: "allow" })).some(({ tool }) => tool === "fs_write"),
    "the call was allowed",
  );
  writeFileSync(over, "");
  const { out } = await waiting;
  expect(out).toContain('{\\"behavior\\":\\"allow\\"');
});

test("a call that the record allows keeps its arguments; a command is moved into the sandbox", async () => {
  const input = { file_path: join(fixture.project, "a") };
  expect(await answer("Read", input)).toEqual({ behavior: "allow", updatedInput: input });
  const { behavior, updatedInput } = await answer("Bash", { command: "ls" });
  expect([behavior, (updatedInput as { command: string }).command]).toEqual([
    "allow",
    expect.stringContaining(" call coder shell "),
  ]);
});

test.each<[string, string, object]>([
  ["no grant covers", "Read", { file_path: "/etc/hostname" }],
  ["cannot be read", "Bash", { command: "ls $(id)" }],
  ["is unknown", "Unknown", {}],
])("a call that %s is denied with a reason", async (_, tool, input) => {
  expect(await answer(tool, input)).toEqual({ behavior: "deny", message: expect.stringMatching(/^ambit\S* denied/) });
});

test("arguments that are none are denied", async () => {
  const { text } = await asked(SERVED, TOOL, { tool_name: 1, input: [] });
  expect(JSON.parse(text)).toMatchObject({ behavior: "deny" });
});

test("it is served on request alone, and needs an agent", async () => {
  const { tools, text } = await asked(["--agent", "coder"], TOOL, { tool_name: "Read", input: {} });
  expect(tools).not.toContain(TOOL);
  expect(text).toContain("unknown_tool");
  expect((await asked(SERVED, TOOL, {})).tools).toContain(TOOL);
  expect((await fixture.ambit("mcp", "serve", "--prompt-tool")).status).toBe(2);
});
