// The Anthropic SDK against a scripted model: the requests, the results, and what the model is not shown.
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anthropicTools, runMessages } from "../../src/adapters/anthropic.ts";
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

const body = { model: "claude-test", max_tokens: 100, messages: [{ role: "user" as const, content: "go" }] };

async function model(...answers: readonly (readonly object[])[]): Promise<{ client: Anthropic; server: ModelServer }> {
  const server = await ModelServer.start(
    answers.map((content, at) => ({
      id: `msg_${at}`,
      type: "message",
      role: "assistant",
      model: "claude-test",
      content,
      stop_reason: content.some((block) => "input" in block) ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    })),
  );
  servers.push(server);
  return { client: new Anthropic({ apiKey: "none", baseURL: server.url, maxRetries: 0 }), server };
}

const use = (id: string, name: string, input: object): object => ({ type: "tool_use", id, name, input });
const text = (said: string): object => ({ type: "text", text: said });

const SUM = { name: "math__add", description: "Adds two numbers.", input_schema: ADD };

describe("a run", () => {
  test("shows the session's tools, returns results of calls, and reports denials", async () => {
    const { client, server } = await model(
      [use("t1", "math__add", { a: 1, b: 2 }), use("t2", "memory_get", { key: "b" })],
      [use("t3", "rm_everything", {})],
      [text("done")],
    );
    const session = await fixture.ambit.session("plain");
    const run = await runMessages(client, session, body);
    expect(run.ended).toBe("answered");
    expect(server.asked.map(({ path }) => path)).toEqual(["/v1/messages", "/v1/messages", "/v1/messages"]);
    const first = server.body(0);
    expect(first).toMatchObject({ model: "claude-test", messages: body.messages });
    expect(first["tools"]).toEqual([
      SUM,
      expect.objectContaining({ name: "memory_get", input_schema: expect.anything() }),
    ]);
    const second = server.body(1);
    expect(second["messages"]).toEqual([
      ...body.messages,
      {
        role: "assistant",
        content: [use("t1", "math__add", { a: 1, b: 2 }), use("t2", "memory_get", { key: "b" })],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t1", content: '{"sum":3}' },
          { type: "tool_result", tool_use_id: "t2", content: expect.any(String), is_error: true },
        ],
      },
    ]);
    const denied = (second["messages"] as { content: { content: string }[] }[])[2]?.content[1]?.content ?? "";
    const told = JSON.parse(denied) as Record<string, unknown>;
    expect(told).toEqual({
      kind: "denied",
      code: "scope_violation",
      need: "memory.read b",
      hint: "No grant covers this request. Stay within your grants, or tell the user which access you need.",
      id: expect.stringMatching(/.+/),
    });
    expect(
      (await fixture.library.fixture.log({})).some(({ id, outcome }) => id === told["id"] && outcome === "deny"),
    ).toBe(true);
    const third = (server.body(2)["messages"] as { content: { content: string; is_error?: boolean }[] }[])[4]
      ?.content[0];
    expect(third?.is_error).toBe(true);
    expect(JSON.parse(third?.content ?? "")).toMatchObject({ code: "unknown_tool" });
  });

  test("ends after a limited number of turns, however long the model continues", async () => {
    const { client, server } = await model(
      ...Array.from({ length: 5 }, (_, at) => [use(`t${at}`, "math__add", { a: 1, b: at })]),
    );
    const run = await runMessages(client, await fixture.ambit.session("plain"), body, { turnsMax: 3 });
    expect(run.ended).toBe("turns");
    expect(server.asked).toHaveLength(3);
  });

  test("shows the tools of the current grants", async () => {
    const { client, server } = await model([use("t1", "memory_get", { key: "a/b" })], [text("done")]);
    const session = await fixture.ambit.session("plain");
    const pledged = { ...session, tools: () => session.tools(), providerTools: session.providerTools.bind(session) };
    const call: typeof session.call = async (...words) => {
      const answer = await session.call(...words);
      await session.pledge(["tool.invoke{tools=[math.add]}"]);
      return answer;
    };
    await runMessages(client, { ...pledged, call }, body);
    expect((server.body(0)["tools"] as object[]).length).toBe(2);
    expect(server.body(1)["tools"]).toEqual([SUM]);
  });
});

describe("the provider's own tools", () => {
  test("are not in the request without a grant", async () => {
    const { tools, omitted } = await anthropicTools(await fixture.ambit.session("plain"));
    expect(tools.map((tool) => ("name" in tool ? tool.name : ""))).toEqual(["math__add", "memory_get"]);
    expect(omitted.map(({ name }) => name)).toEqual(["web_search", "web_fetch", "code_execution"]);
  });

  test("are limited to the hosts of the grant", async () => {
    const { client, server } = await model([text("done")]);
    await runMessages(client, await fixture.ambit.session("searching"), body);
    expect(server.body(0)["tools"]).toEqual([
      { type: "web_search_20250305", name: "web_search", allowed_domains: ["github.com", "npmjs.com"] },
      { type: "web_fetch_20250910", name: "web_fetch", allowed_domains: ["github.com", "npmjs.com"] },
      { type: "code_execution_20250825", name: "code_execution" },
      SUM,
    ]);
    const { notes } = await anthropicTools(await fixture.ambit.session("searching"));
    expect(notes.join(" ")).toContain("the provider also allows all subdomains of github.com");
  });

  test("are replaced by the session's own, unless the application names them", async () => {
    const session = await fixture.ambit.session("fetching");
    const types = async (names?: readonly string[]): Promise<readonly string[]> => {
      const { tools } = await anthropicTools(session, names === undefined ? {} : { providerTools: { names } });
      return tools.map((tool) => ("type" in tool && tool.type !== undefined ? String(tool.type) : "ours"));
    };
    expect(await types()).toEqual(["web_search_20250305", "ours"]);
    expect(await types(["web_fetch"])).toEqual(["web_fetch_20250910"]);
    expect((await anthropicTools(session, { providerTools: null })).tools).toHaveLength(1);
  });
});
