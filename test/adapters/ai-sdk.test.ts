// The Vercel AI SDK against a scripted model, through the SDK's own gateway: the requests, the results, and what the model is not
// shown.
import { createGateway, generateText, stepCountIs } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AiSdkOptions, aiSdkTools } from "../../src/adapters/ai-sdk.ts";
import { ADD, type AdaptersFixture, adaptersFixture } from "./fixture.ts";
import { ModelServer } from "./model-server.ts";

let fixture: AdaptersFixture;
const servers: ModelServer[] = [];
beforeAll(async () => {
  fixture = await adaptersFixture();
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await fixture?.library.remove();
});

const call = (toolCallId: string, toolName: string, input: object): object => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input: JSON.stringify(input),
});
const text = (said: string): object => ({ type: "text", text: said });

async function run(
  agent: string,
  options: AiSdkOptions,
  ...answers: readonly (readonly object[])[]
): Promise<{ readonly server: ModelServer; readonly text: string }> {
  const server = await ModelServer.start(
    answers.map((content) => ({
      content,
      finishReason: { unified: content.some((one) => "toolCallId" in one) ? "tool-calls" : "stop", raw: "stop" },
      usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
      warnings: [],
    })),
  );
  servers.push(server);
  const gateway = createGateway({ apiKey: "none", baseURL: server.url });
  const { tools } = await aiSdkTools(await fixture.ambit.session(agent), options);
  const result = await generateText({
    model: gateway("test/model"),
    prompt: "go",
    tools,
    stopWhen: stepCountIs(5),
    maxRetries: 0,
  });
  return { server, text: result.text };
}

const SUM = { type: "function", name: "math__add", description: "Adds two numbers.", inputSchema: ADD };

describe("a run", () => {
  test("shows the session's tools, returns results of calls, and reports denials", async () => {
    const { server, text: said } = await run(
      "plain",
      {},
      [call("c1", "math__add", { a: 1, b: 2 }), call("c2", "memory_get", { key: "b" })],
      [text("done")],
    );
    expect(said).toBe("done");
    expect(server.asked.map(({ path }) => path)).toEqual(["/language-model", "/language-model"]);
    expect(server.body(0)["tools"]).toEqual([SUM, expect.objectContaining({ type: "function", name: "memory_get" })]);
    const prompt = server.body(1)["prompt"] as { role: string; content: object[] }[];
    expect(prompt.at(-1)).toEqual({
      role: "tool",
      content: [
        expect.objectContaining({
          type: "tool-result",
          toolCallId: "c1",
          output: { type: "json", value: { sum: 3 } },
        }),
        expect.objectContaining({
          type: "tool-result",
          toolCallId: "c2",
          output: {
            type: "error-json",
            value: {
              kind: "denied",
              code: "scope_violation",
              need: "memory.read b",
              hint: expect.stringContaining("Stay within your grants"),
              id: expect.stringMatching(/.+/),
            },
          },
        }),
      ],
    });
  });
});

describe("the provider's own tools", () => {
  test("are requested in the SDK's format, limited to the hosts of the grant", async () => {
    const { server } = await run("searching", { provider: "anthropic" }, [text("done")]);
    expect(server.body(0)["tools"]).toEqual([
      {
        type: "provider",
        name: "web_search",
        id: "anthropic.web_search_20250305",
        args: { allowedDomains: ["github.com", "npmjs.com"] },
      },
      {
        type: "provider",
        name: "web_fetch",
        id: "anthropic.web_fetch_20250910",
        args: { allowedDomains: ["github.com", "npmjs.com"] },
      },
      { type: "provider", name: "code_execution", id: "anthropic.code_execution_20250825", args: {} },
      SUM,
    ]);
    const openai = await run("searching", { provider: "openai" }, [text("done")]);
    expect((openai.server.body(0)["tools"] as object[])[0]).toEqual({
      type: "provider",
      name: "web_search",
      id: "openai.web_search",
      args: { filters: { allowedDomains: ["github.com", "npmjs.com"] } },
    });
  });

  test("are not in the request without a grant, or without a provider", async () => {
    const plain = await aiSdkTools(await fixture.ambit.session("plain"), { provider: "anthropic" });
    expect(Object.keys(plain.tools)).toEqual(["math__add", "memory_get"]);
    expect(plain.omitted.map(({ name }) => name)).toEqual(["web_search", "web_fetch", "code_execution"]);
    const without = await aiSdkTools(await fixture.ambit.session("searching"));
    expect(Object.keys(without.tools)).toEqual(["math__add"]);
  });
});

test("a cancelled run cancels its calls", async () => {
  const { tools } = await aiSdkTools(await fixture.ambit.session("plain"));
  const asked = { toolCallId: "c1", messages: [], abortSignal: AbortSignal.abort() };
  expect(await tools["math__add"]?.execute?.({ a: 1, b: 2 }, asked)).toMatchObject({ ok: false, code: "revoked" });
});
