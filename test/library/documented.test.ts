// Every example of the library's reference is run as printed, in a folder that has the packages and an agent, and prints what the
// page says.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ModelServer } from "../adapters/model-server.ts";
import { root } from "../e2e/ambit.ts";
import { type LibraryFixture, libraryFixture } from "./fixture.ts";

const page = readFileSync(join(root, "docs", "reference", "library.md"), "utf8");
const examples = [...page.matchAll(/```js\n(.*?)```\n\n```text\n(.*?)```/gs)].map(([, code = "", said = ""]) => ({
  code,
  said,
}));

const SOCKET_NAMES = {
  ".": "./dist/index.js",
  "./node": "./dist/node-entry.js",
  "./ai-sdk": "./dist/adapters/ai-sdk.js",
  "./anthropic": "./dist/adapters/anthropic.js",
  "./openai-agents": "./dist/adapters/openai-agents.js",
  "./eslint-plugin": "./dist/cli/tools/eslint-plugin.js",
};

let library: LibraryFixture;
beforeAll(async () => {
  library = await libraryFixture({
    scout: [
      "tool.invoke{tools=[memory_get,memory_list,memory_set,read_note,forecast]}",
      "memory.read{keys=[notes/**]}",
      "fs.read{in=notes}",
    ],
  });
  const { fixture } = library;
  fixture.write("project/notes/today.txt", "buy milk\n");
  fixture.write("project/README.md", "not a note\n");
  const modules = join(fixture.project, "node_modules");
  for (const name of ["zod", "ai", "@anthropic-ai/sdk", "@openai/agents"]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  // The published package: its entry points, and the build.
  const own = join(modules, "ambit");
  mkdirSync(own);
  symlinkSync(join(root, "dist"), join(own, "dist"));
  const written = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { exports: Record<string, object> };
  const doors = "./ai-sdk" in written.exports ? written.exports : SOCKET_NAMES;
  writeFileSync(join(own, "package.json"), JSON.stringify({ name: "ambit", type: "module", exports: doors }));
});
afterAll(() => library?.remove());

/** Requests something that is not granted, and prints that. */
const SCRIPTS: Readonly<Record<string, readonly object[]>> = {
  "@anthropic-ai/sdk": [
    anthropic([{ type: "tool_use", id: "t1", name: "memory_get", input: { key: "plans/today" } }], "tool_use"),
    anthropic([{ type: "text", text: "I may not read that." }], "end_turn"),
  ],
  "@openai/agents": [
    openai([
      {
        ...{ type: "function_call", id: "fc_1", call_id: "c1", name: "memory_get", status: "completed" },
        arguments: '{"key":"plans/today"}',
      },
    ]),
    openai([
      {
        ...{ type: "message", id: "m1", role: "assistant", status: "completed" },
        content: [{ type: "output_text", text: "I may not read that.", annotations: [] }],
      },
    ]),
  ],
  "ai": [
    gateway([{ type: "tool-call", toolCallId: "c1", toolName: "memory_get", input: '{"key":"plans/today"}' }]),
    gateway([{ type: "text", text: "I may not read that." }]),
  ],
};

function anthropic(content: readonly object[], stop_reason: string): object {
  const usage = { input_tokens: 1, output_tokens: 1 };
  return { id: "m", type: "message", role: "assistant", model: "m", content, stop_reason, stop_sequence: null, usage };
}

function openai(output: readonly object[]): object {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return { id: "r", object: "response", created_at: 0, status: "completed", model: "m", output, usage };
}

function gateway(content: readonly object[]): object {
  const unified = content.some((one) => "toolCallId" in one) ? "tool-calls" : "stop";
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
}

async function ran(code: string, url: string): Promise<string> {
  const { fixture } = library;
  const file = join(fixture.project, "example.mjs");
  writeFileSync(file, code);
  const child = spawn(process.execPath, [file], {
    cwd: fixture.project,
    env: {
      ...fixture.environment,
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_BASE_URL: url,
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_AGENTS_DISABLE_TRACING: "1",
      AI_GATEWAY_API_KEY: "none",
      GATEWAY_URL: url,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Buffer) => {
      said += piece.toString("utf8");
    });
  await once(child, "close");
  return said;
}

test("the page has examples", () => {
  expect(examples).toHaveLength(5);
  expect([...page.matchAll(/```js\n/g)]).toHaveLength(examples.length);
});

test.each(examples.map((example, at) => ({ ...example, number: at + 1 })))(
  "example $number",
  async ({ code, said }) => {
    const name = Object.keys(SCRIPTS).find((one) => code.includes(`from "${one}"`));
    const answers = name === undefined ? [] : (SCRIPTS[name] ?? []);
    const server = await ModelServer.start(answers);
    try {
      expect(await ran(code, server.url)).toBe(said);
      expect(server.asked).toHaveLength(answers.length);
      if (answers.length > 0) expect(JSON.stringify(server.body(1))).toContain("scope_violation");
    } finally {
      await server.close();
    }
  },
);
