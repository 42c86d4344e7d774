// The OpenAI Agents SDK against a scripted model: the requests, the results, and what the model is not shown.
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from "@openai/agents";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agentsTools } from "../../src/adapters/openai-agents.ts";
import { ADD, type AdaptersFixture, adaptersFixture } from "./fixture.ts";
import { ModelServer } from "./model-server.ts";

let fixture: AdaptersFixture;
const servers: ModelServer[] = [];
beforeAll(async () => {
  // Its traces would be sent to the network.
  setTracingDisabled(true);
  fixture = await adaptersFixture();
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await fixture?.library.remove();
});

const call = (id: string, name: string, asked: string): object => ({
  type: "function_call",
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: asked,
  status: "completed",
});
const text = (said: string): object => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: said, annotations: [] }],
});

async function run(agent: string, ...answers: readonly (readonly object[])[]): Promise<ModelServer> {
  const server = await ModelServer.start(
    answers.map((output, at) => ({
      id: `resp_${at}`,
      object: "response",
      created_at: 0,
      status: "completed",
      model: "gpt-test",
      output,
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    })),
  );
  servers.push(server);
  const modelProvider = new OpenAIProvider({ apiKey: "none", baseURL: `${server.url}/v1`, useResponses: true });
  const { tools } = await agentsTools(await fixture.ambit.session(agent));
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const result = await runner.run(new Agent({ name: "tester", instructions: "go", model: "gpt-test", tools }), "go");
  expect(result.finalOutput).toBe("done");
  return server;
}

const SUM = { type: "function", name: "math__add", description: "Adds two numbers.", parameters: ADD, strict: false };

describe("a run", () => {
  test("shows the session's tools, returns results of calls, and reports denials", async () => {
    const server = await run(
      "plain",
      [
        call("c1", "math__add", '{"a":1,"b":2}'),
        call("c2", "memory_get", '{"key":"b"}'),
        call("c3", "math__add", '{"a":1,"a":2,"b":3}'),
      ],
      [text("done")],
    );
    expect(server.asked.map(({ path }) => path)).toEqual(["/v1/responses", "/v1/responses"]);
    expect(server.body(0)["tools"]).toEqual([
      SUM,
      expect.objectContaining({ type: "function", name: "memory_get", strict: false }),
    ]);
    const outputs = (server.body(1)["input"] as { type?: string; call_id?: string; output?: string }[]).filter(
      ({ type }) => type === "function_call_output",
    );
    expect(outputs.map(({ call_id }) => call_id)).toEqual(["c1", "c2", "c3"]);
    expect(outputs[0]?.output).toBe('{"sum":3}');
    expect(JSON.parse(outputs[1]?.output ?? "")).toEqual({
      kind: "denied",
      code: "scope_violation",
      need: "memory.read b",
      hint: expect.stringContaining("Stay within your grants"),
      id: expect.stringMatching(/.+/),
    });
    expect(JSON.parse(outputs[2]?.output ?? "")).toMatchObject({ code: "invalid_input" });
  });
});

describe("the provider's own tools", () => {
  test("are limited to the hosts of the grant, and are not in the request without one", async () => {
    const server = await run("searching", [text("done")]);
    expect(server.body(0)["tools"]).toEqual([
      { type: "web_search", filters: { allowed_domains: ["github.com", "npmjs.com"] } },
      { type: "code_interpreter", container: { type: "auto", network_policy: { type: "disabled" } } },
      SUM,
    ]);
    const { omitted } = await agentsTools(await fixture.ambit.session("plain"));
    expect(omitted.map(({ name }) => name)).toEqual([
      "web_search",
      "code_interpreter",
      "file_search",
      "image_generation",
    ]);
  });

  test("none if the application wants none", async () => {
    const { tools } = await agentsTools(await fixture.ambit.session("searching"), { providerTools: null });
    expect(tools.map(({ name }) => name)).toEqual(["math__add"]);
  });
});

test("a cancelled run cancels its calls", async () => {
  const { tools } = await agentsTools(await fixture.ambit.session("plain"));
  const tool = tools.find(({ name }) => name === "math__add");
  if (tool?.type !== "function") throw new Error("no function");
  const stopped = AbortSignal.abort();
  const said = await tool.invoke({} as never, '{"a":1,"b":2}', { signal: stopped } as never);
  expect(JSON.parse(String(said))).toMatchObject({ code: "revoked" });
});
