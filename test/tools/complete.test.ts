// lm_complete through the real daemon and broker, with a provider on loopback: decided as `model.use`, reserved, charged by the
// usage of the answer, logged without the prompt; and the key appears nowhere.
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Called, Caller } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

const KEY = "sk-complete-0123456789abcdef0123456789";
let fixture: Fixture;
let caller: Caller;
let port = 0;
const heard: { readonly url: string; readonly headers: http.IncomingHttpHeaders; readonly body: string }[] = [];
let answer: { readonly status: number; readonly body: string } = { status: 200, body: "{}" };

const server = http.createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += String(piece);
  heard.push({ url: request.url ?? "", headers: request.headers, body });
  response.writeHead(answer.status, { "Content-Type": "application/json" }).end(answer.body);
});

const TOOL = "tool.invoke{tools=[lm_complete]}";
const USE = "model.use{providers=[anthropic],models=[claude-*]";
const CALL = { provider: "anthropic", model: "claude-x", prompt: "say hi", max_tokens: 9 };
/** As it is sent to the provider. */
const SENT = JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "say hi" }] });
const reply = (text: string): string =>
  JSON.stringify({
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    usage: { input_tokens: 3, output_tokens: 4 },
  });

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
  fixture = await Fixture.make();
  fixture.agent("scout", ["model.use{providers=[openai,gemini],models=[*]}", TOOL]);
  fixture.agent("claude", [`${USE}}`, TOOL]);
  fixture.agent("once", [`${USE},calls=1}`, TOOL]);
  // One reservation and one settled call of 7 tokens; not two reservations.
  fixture.agent("tokens", [`${USE},tokens=${SENT.length + 9 + 7}}`, TOOL]);
  fixture.agent("broke", [`${USE},tokens=${SENT.length + 9 + 7}}`, TOOL]);
  fixture.agent("short", [`${USE},tokens=${SENT.length + 10 + 1_024}}`, TOOL]);
  fixture.agent("money", [`${USE},money=1}`, TOOL]);
  fixture.agent("asks", [`${USE},ask=true}`, TOOL]);
  fixture.agent("none", ["obs.append", TOOL]);
  fixture.agent("toolless", ["model.use", "tool.invoke{tools=[echo]}"]);
  configure("");
  await fixture.begin();
  caller = fixture.caller();
}, 120_000);
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await fixture.remove();
});

function configure(more: string): void {
  const url = `http://127.0.0.1:${port}`;
  const models = `models: { anthropic: { url: "${url}" }, openai: { url: "${url}/o" }, gemini: { url: "${url}" } }\n`;
  fixture.write("config/ambit/config.yml", `${models}${more}`);
}

const complete = async (agent: string, input: object = CALL): Promise<Called> => {
  heard.length = 0;
  return expectValue(await caller.open(fixture.project, agent)).do("lm_complete", input);
};

test("without a kept key the call says what a person types, and costs nothing", async () => {
  for (let times = 0; times < 3; times++) {
    const { said, value } = await complete("broke");
    expect(said).toBe("secret_refused");
    expect(JSON.stringify(value)).toContain(`ambit secrets set anthropic-key --tool model --host 127.0.0.1:${port}`);
  }
  expect(heard).toEqual([]);
  expectValue(
    await fixture.control("secrets.set", {
      name: "model-key",
      value: KEY,
      binding: { tools: ["model"], hosts: [`127.0.0.1:${port}`], uses: null },
      username: null,
      isCanary: false,
      isRotation: false,
      presence: null,
    }),
  );
});

test("the answer comes back without the key, and the log has digest, model, tokens and duration", async () => {
  answer = { status: 200, body: reply(`hi, your key is ${KEY}`) };
  const done = await complete("claude");
  expect(done.said).toBe("done");
  expect(done.value["result"]).toMatchObject({
    text: expect.stringMatching(/^hi, your key is /),
    ...{ stop: "end_turn", model: "claude-x", inputTokens: 3, outputTokens: 4 },
  });
  expect(heard.map(({ url, headers, body }) => [url, headers["x-api-key"], body])).toEqual([
    ["/v1/messages", KEY, SENT],
  ]);
  const log = await fixture.log({ agent: "claude" });
  const text = JSON.stringify([done.value, log]);
  for (const hidden of [KEY, "say hi"]) expect(text).not.toContain(hidden);
  expect(log.find(({ kind, tool }) => kind === "outcome" && tool === "model")).toMatchObject({
    outcome: "answered 200",
    more: {
      ...{ provider: "anthropic", model: "claude-x", bytes: SENT.length, input: 3, output: 4, whole: true },
      ...{ digest: expect.stringMatching(/^[0-9a-f]{64}$/), milliseconds: expect.any(Number) },
    },
  });
});

test("the session is untrusted afterwards", async () => {
  const session = expectValue(await caller.open(fixture.project, "claude"));
  await session.do("lm_complete", CALL);
  const shown = (await fixture.status()).sessions.find((one) => one.session === session.id);
  expect(shown?.isClean).toBe(false);
});

test.each<readonly [string, object, string, string]>([
  [
    "openai",
    { choices: [{ message: { content: "yes" }, finish_reason: "stop" }] },
    "/o/v1/chat/completions",
    '{"model":"m-1","max_completion_tokens":5,"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}],"temperature":0.5,"store":false}',
  ],
  [
    "gemini",
    { candidates: [{ content: { parts: [{ text: "y" }, { text: "es" }] }, finishReason: "STOP" }] },
    "/v1beta/models/m-1:generateContent",
    '{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":"c"}]}],"generationConfig":{"maxOutputTokens":5,"temperature":0.5},"systemInstruction":{"parts":[{"text":"be brief"}]}}',
  ],
])("%s is asked in its own form", async (provider, body, url, sent) => {
  answer = { status: 200, body: JSON.stringify(body) };
  const messages = ["a", "b", "c"].map((text, at) => ({ role: at === 1 ? "assistant" : "user", text }));
  const input = { provider, model: "m-1", system: "be brief", messages, max_tokens: 5, temperature: 0.5 };
  const done = await complete("scout", input);
  expect([done.said, done.value["result"] ?? done.value]).toMatchObject(["done", { text: "yes" }]);
  expect(heard.map((one) => [one.url, one.body])).toEqual([[url, sent]]);
});

test.each<readonly [string, object, string]>([
  ["none", CALL, "capability_absent"],
  ["toolless", CALL, "scope_violation"],
  ["claude", { ...CALL, model: "gpt-5" }, "scope_violation"],
  ["claude", { ...CALL, provider: "openai" }, "scope_violation"],
  ["claude", { ...CALL, provider: "other" }, "invalid_input"],
  ["claude", { ...CALL, model: "claude-*" }, "invalid_input"],
  ["claude", { ...CALL, model: "../x" }, "invalid_input"],
  ["claude", { ...CALL, model: "claude-x?key=1" }, "invalid_input"],
  ["claude", { ...CALL, prompt: undefined }, "invalid_input"],
  ["claude", { ...CALL, prompt: "" }, "invalid_input"],
  ["claude", { ...CALL, messages: [{ role: "user", text: "both" }] }, "invalid_input"],
  ["claude", { ...CALL, prompt: undefined, messages: [] }, "invalid_input"],
  ["claude", { ...CALL, prompt: undefined, messages: [{ role: "system", text: "x" }] }, "invalid_input"],
  ["claude", { ...CALL, prompt: "{{secret:model}}" }, "invalid_input"],
  ["claude", { ...CALL, system: "{{secret:model-key}}" }, "invalid_input"],
  ["claude", { ...CALL, max_tokens: 0 }, "invalid_input"],
  ["claude", { ...CALL, max_tokens: 32_769 }, "invalid_input"],
  ["claude", { ...CALL, temperature: 3 }, "invalid_input"],
  ["claude", { ...CALL, tools: [] }, "invalid_input"],
  ["money", CALL, "budget_exhausted"],
])("%s %j: %s, and the provider is not asked", async (agent, input, said) => {
  expect((await complete(agent, input)).said).toBe(said);
  expect(heard).toEqual([]);
});

test("a budget of calls counts each call once", async () => {
  answer = { status: 200, body: reply("hi") };
  expect((await complete("once")).said).toBe("done");
  expect((await complete("once")).said).toBe("budget_exhausted");
});

test("a budget of tokens is charged by the usage, and calls at once do not exceed it", async () => {
  answer = { status: 200, body: reply("hi") };
  const all = await Promise.all(Array.from({ length: 4 }, () => complete("tokens")));
  expect(all.map(({ said }) => said).filter((said) => said === "done")).toHaveLength(1);
  expect((await complete("tokens")).said).toBe("done");
  expect((await complete("tokens")).said).toBe("budget_exhausted");
});

test("a maximum of output above the rest of a budget is lowered to it", async () => {
  answer = { status: 200, body: reply("hi") };
  const { said, value } = await complete("short", { ...CALL, max_tokens: 30_000 });
  expect([said, value]).toMatchObject(["done", {}]);
  const sent = JSON.parse(heard[0]?.body ?? "{}") as { max_tokens?: number };
  expect(sent.max_tokens).toBe(1_030);
});

test("an error of the provider costs nothing, and an answer without usage the reservation", async () => {
  answer = { status: 500, body: "{}" };
  for (let times = 0; times < 3; times++) expect((await complete("broke")).said).toBe("not_available");
  expect(heard).toHaveLength(1);
  answer = { status: 200, body: '{"content":[{"type":"text","text":"free?"}]}' };
  expect((await complete("broke")).said).toBe("done");
  expect((await complete("broke")).said).toBe("budget_exhausted");
});

test.each<readonly [string, string]>([
  ["no JSON", "<html>"],
  ["another shape", '{"content":7}'],
  ["a list", "[]"],
  ["a flood", "x".repeat(4_200_000)],
])("%s is no answer", async (_, body) => {
  answer = { status: 200, body };
  expect((await complete("claude")).said).toBe("not_available");
});

test("with `ask` nothing is sent before a person approved", async () => {
  answer = { status: 200, body: reply("hi") };
  expect((await complete("asks")).said).toBe("approval_required");
  expect(heard).toEqual([]);
  const [approval] = await fixture.approvals("pending");
  expect(JSON.stringify(approval)).toContain("claude-x");
});

test("prompts are logged only while the user keeps them, and without secrets", async () => {
  answer = { status: 200, body: reply("hi") };
  const logged = async (): Promise<string> => JSON.stringify(await fixture.log({ agent: "claude" }));
  await complete("claude", { ...CALL, prompt: "the first question" });
  await complete("claude", { ...CALL, model: "gpt-5", prompt: "a refused question" });
  configure("prompts: keep\n");
  await complete("claude", { ...CALL, prompt: "the second question" });
  // The value of a secret in a prompt is refused before anything is sent.
  expect((await complete("claude", { ...CALL, prompt: `the third question ${KEY}` })).said).toBe("secret_refused");
  configure("");
  await complete("claude", { ...CALL, prompt: "the fourth question" });
  const text = await logged();
  expect(text).toContain("the second question");
  for (const hidden of ["the first", "a refused", "the third", "the fourth", KEY]) expect(text).not.toContain(hidden);
});
