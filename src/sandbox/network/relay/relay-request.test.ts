// The relay passes requests for text and tools of the client, and nothing that lets the provider act on its own.
import { expect, test } from "vitest";
import type { JsonObject } from "../../../core/base/json.ts";
import { modelCall, type Provider, providerOf } from "./relay-request.ts";

const MESSAGE = { model: "claude-x", max_tokens: 5, messages: [{ role: "user", content: "hello" }] };
const RESPONSE = { model: "gpt-x", input: [{ role: "user", content: "hello" }] };
const CHAT = { model: "gpt-x", messages: [{ role: "user", content: "hello" }] };
const CONTENTS = { contents: [{ parts: [{ text: "hello" }] }] };
const MODEL = "/gemini/v1beta/models/gemini-x";

function call(target: string, body: JsonObject, method = "POST"): ReturnType<typeof modelCall> {
  return modelCall(method, target, providerOf(target) as Provider, body);
}

test.each<[string, string, JsonObject, string]>([
  ["Messages", "/anthropic/v1/messages?beta=true", MESSAGE, "claude-x"],
  ["a count of tokens", "/anthropic/v1/messages/count_tokens", MESSAGE, "claude-x"],
  ["Responses", "/openai/v1/responses", RESPONSE, "gpt-x"],
  ["Chat Completions", "/openai/v1/chat/completions", CHAT, "gpt-x"],
  ["Gemini", `${MODEL}:streamGenerateContent?alt=sse`, CONTENTS, "gemini-x"],
  [
    "a tool of the client",
    "/anthropic/v1/messages",
    { ...MESSAGE, tools: [{ name: "a", input_schema: { type: "object", properties: { url: {} } } }] },
    "claude-x",
  ],
  [
    "what a tool was called with",
    "/anthropic/v1/messages",
    {
      ...MESSAGE,
      messages: [{ role: "assistant", content: [{ type: "tool_use", input: { url: "https://a.test/" } }] }],
    },
    "claude-x",
  ],
  [
    "an image in the request itself",
    "/openai/v1/chat/completions",
    { ...CHAT, messages: [{ content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA" } }] }] },
    "gpt-x",
  ],
])("%s passes", (_title, target, body, model) => {
  expect(call(target, body)).toMatchObject({ ok: true, model });
});

test.each<[string, string, JsonObject, string]>([
  ["another path", "/anthropic/v1/files", MESSAGE, "POST /v1/files"],
  ["a path that climbs", "/anthropic/v1/../v1/messages", MESSAGE, "does not go"],
  ["a batch", "/anthropic/v1/messages/batches", MESSAGE, "does not go"],
  ["a field that is not known", "/anthropic/v1/messages", { ...MESSAGE, mcp_servers: [] }, "`mcp_servers`"],
  ["a container", "/anthropic/v1/messages", { ...MESSAGE, container: "c" }, "`container`"],
  [
    "a search of the provider",
    "/anthropic/v1/messages",
    { ...MESSAGE, tools: [{ type: "web_search_20250305" }] },
    "runs at the provider",
  ],
  [
    "code at the provider",
    "/openai/v1/responses",
    { ...RESPONSE, tools: [{ type: "code_interpreter" }] },
    "runs at the provider",
  ],
  [
    "a remote server",
    "/openai/v1/responses",
    { ...RESPONSE, tools: [{ type: "mcp", server_url: "x" }] },
    "runs at the provider",
  ],
  [
    "a search of Google",
    `${MODEL}:generateContent`,
    { ...CONTENTS, tools: [{ googleSearch: {} }] },
    "runs at the provider",
  ],
  [
    "an earlier answer that is stored",
    "/openai/v1/responses",
    { ...RESPONSE, previous_response_id: "r" },
    "`previous_response_id`",
  ],
  ["an answer in the background", "/openai/v1/responses", { ...RESPONSE, background: true }, "`background`"],
  [
    "a page that the provider fetches",
    "/anthropic/v1/messages",
    { ...MESSAGE, messages: [{ content: [{ type: "image", source: { type: "url", url: "https://a.test/x" } }] }] },
    "would fetch",
  ],
  [
    "an image by its address",
    "/openai/v1/chat/completions",
    { ...CHAT, messages: [{ content: [{ type: "image_url", image_url: { url: "https://a.test" } }] }] },
    "would fetch",
  ],
  [
    "a file at the provider",
    "/anthropic/v1/messages",
    { ...MESSAGE, messages: [{ content: [{ source: { type: "file", file_id: "f" } }] }] },
    "a file at the provider",
  ],
  [
    "a file of Google",
    `${MODEL}:generateContent`,
    { contents: [{ parts: [{ fileData: { fileUri: "gs://x" } }] }] },
    "a file at the provider",
  ],
  ["no model", "/anthropic/v1/messages", { messages: [] }, "names no model"],
])("%s is refused", (_title, target, body, message) => {
  const result = call(target, body);
  expect(result.ok ? "passed" : result.message).toContain(message);
});

test("other methods and targets are refused", () => {
  expect(call("/anthropic/v1/messages", MESSAGE, "GET").ok).toBe(false);
  expect(providerOf("/v1/messages")).toBeNull();
  expect(providerOf("http://a.test/anthropic/v1/messages")).toBeNull();
  expect(modelCall("POST", "/anthropic/v1/messages", "anthropic", undefined).ok).toBe(false);
});

test("a key in the query is dropped; answers are not stored; a stream ends with its usage", () => {
  expect(call(`${MODEL}:generateContent?key=abc&alt=sse`, CONTENTS)).toMatchObject({
    path: expect.stringMatching(/t\?alt=sse$/),
  });
  expect(call("/openai/v1/responses", { ...RESPONSE, store: true })).toMatchObject({ body: { store: false } });
  expect(call("/openai/v1/chat/completions", { ...CHAT, stream: true })).toMatchObject({
    body: { stream_options: { include_usage: true } },
    isStream: true,
  });
});
