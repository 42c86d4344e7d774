// The relay passes requests for text and tools of the client, and nothing that lets the provider act on its own.
import { expect, test } from "vitest";
import type { JsonObject } from "../../../core/base/json.ts";
import type { ModelProvider } from "../../../core/notation/config/model-setting.ts";
import { modelCall, providerOf } from "./relay-request.ts";

const MESSAGE = { model: "claude-x", max_tokens: 5, messages: [{ role: "user", content: "hello" }] };
const RESPONSE = { model: "gpt-x", input: [{ role: "user", content: "hello" }] };
const CHAT = { model: "gpt-x", messages: [{ role: "user", content: "hello" }] };
const CONTENTS = { contents: [{ parts: [{ text: "hello" }] }] };
const MODEL = "/gemini/v1beta/models/gemini-x";

function call(target: string, body: JsonObject, method = "POST"): ReturnType<typeof modelCall> {
  return modelCall(method, target, providerOf(target) as ModelProvider, body, 1_000);
}

function namespaces(depth: number): JsonObject {
  return { type: "namespace", tools: depth === 0 ? [] : [namespaces(depth - 1)] };
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
    "an earlier answer with its id",
    "/openai/v1/responses",
    { ...RESPONSE, input: [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" }] },
    "gpt-x",
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
  [
    "a shell of the client",
    "/openai/v1/responses",
    { ...RESPONSE, tools: [{ type: "shell", environment: { type: "local" } }] },
    "gpt-x",
  ],
  ["a shell without an environment", "/openai/v1/responses", { ...RESPONSE, tools: [{ type: "shell" }] }, "gpt-x"],
  [
    "a namespace of functions",
    "/openai/v1/responses",
    { ...RESPONSE, tools: [{ type: "namespace", tools: [{ type: "function", name: "a" }] }] },
    "gpt-x",
  ],
  [
    "tools that the client found",
    "/openai/v1/responses",
    { ...RESPONSE, input: [{ type: "tool_search_output", tools: [{ type: "function", name: "a" }] }] },
    "gpt-x",
  ],
  [
    "a result of a function of Gemini",
    `${MODEL}:generateContent`,
    { contents: [{ parts: [{ functionResponse: { name: "a", response: { fileUri: "https://a.test/" } } }] }] },
    "gemini-x",
  ],
  [
    "arguments of a function of Gemini",
    `${MODEL}:generateContent`,
    { contents: [{ parts: [{ functionCall: { name: "a", args: { url: "https://a.test/" } } }] }] },
    "gemini-x",
  ],
  [
    "a count of a whole request of Gemini",
    `${MODEL}:countTokens`,
    { generateContentRequest: { model: "models/gemini-x", ...CONTENTS, tools: [{ functionDeclarations: [] }] } },
    "gemini-x",
  ],
])("%s passes", (_title, target, body, model) => {
  expect(call(target, body)).toMatchObject({ ok: true, model });
});

test.each<[string, string, JsonObject, string]>([
  ["another path", "/anthropic/v1/files", MESSAGE, "POST /v1/files"],
  ["a path that climbs", "/anthropic/v1/../v1/messages", MESSAGE, "is not allowed"],
  ["a batch", "/anthropic/v1/messages/batches", MESSAGE, "is not allowed"],
  ["a field that is not known", "/anthropic/v1/messages", { ...MESSAGE, mcp_servers: [] }, "`mcp_servers`"],
  [
    "a count of tokens for another model",
    `${MODEL}:countTokens`,
    { generateContentRequest: { model: "models/other", ...CONTENTS } },
    "`generateContentRequest`",
  ],
  ["a container", "/anthropic/v1/messages", { ...MESSAGE, container: "c" }, "`container`"],
  ["an earlier answer", "/openai/v1/responses", { ...RESPONSE, previous_response_id: "r" }, "`previous_response_id`"],
  ["a conversation", "/openai/v1/responses", { ...RESPONSE, conversation: "c" }, "`conversation`"],
  [
    "a stored item",
    "/openai/v1/responses",
    { ...RESPONSE, input: [{ type: "item_reference", id: "msg_1" }] },
    "`item_reference`",
  ],
  ["a stored item without its type", "/openai/v1/responses", { ...RESPONSE, input: [{ id: "msg_1" }] }, "`id`"],
  [
    "a picture that the provider made and stored",
    "/openai/v1/responses",
    { ...RESPONSE, input: [{ type: "image_generation_call", id: "ig_1" }] },
    "`id`",
  ],
  [
    "addresses of pictures in a list",
    "/openai/v1/chat/completions",
    {
      ...CHAT,
      messages: [{ content: [{ type: "image_url", image_url: ["data:image/png;base64,AA", "https://a.test"] }] }],
    },
    "would fetch",
  ],
  [
    "an address in an address",
    "/openai/v1/chat/completions",
    { ...CHAT, messages: [{ content: [{ type: "image_url", image_url: { url: [{ url: "https://a.test" }] } }] }] },
    "would fetch",
  ],
  [
    "a container of an earlier call",
    "/openai/v1/responses",
    { ...RESPONSE, input: [{ type: "code_interpreter_call", id: "ci_1", container_id: "c" }] },
    "`container_id`",
  ],
  [
    "an upload for a container",
    "/anthropic/v1/messages",
    { ...MESSAGE, messages: [{ role: "user", content: [{ type: "container_upload", file_id: "f" }] }] },
    "`file_id`",
  ],
  [
    "audio of an earlier answer",
    "/openai/v1/chat/completions",
    { ...CHAT, messages: [{ role: "assistant", audio: { id: "audio_1" } }] },
    "`audio`",
  ],
  [
    "both spellings of a setting",
    `${MODEL}:generateContent`,
    { ...CONTENTS, generationConfig: {}, generation_config: { max_output_tokens: 9 } },
    "both of its spellings",
  ],
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
    "a search of Google without contents",
    `${MODEL}:countTokens`,
    { tools: [{ googleSearch: {} }] },
    "runs at the provider",
  ],
  [
    "a search of Google in a request that is counted",
    `${MODEL}:countTokens`,
    { generateContentRequest: { ...CONTENTS, tools: [{ googleSearch: {} }] } },
    "runs at the provider",
  ],
  [
    "a file of Google in a request that is counted",
    `${MODEL}:countTokens`,
    { generateContentRequest: { contents: [{ parts: [{ fileData: { fileUri: "gs://x" } }] }] } },
    "stored at the provider",
  ],
  [
    "a field that is not known in a request that is counted",
    `${MODEL}:countTokens`,
    { generateContentRequest: { ...CONTENTS, cachedContent: "c" } },
    "`cachedContent`",
  ],
  [
    "another model in a request that is counted",
    `${MODEL}:countTokens`,
    { generateContentRequest: { ...CONTENTS, model: "models/gemini-y" } },
    "another model",
  ],
  ...["container_auto", "container_reference", "locale", 1, null].map((type): [string, string, JsonObject, string] => [
    `a shell with the environment ${type}`,
    "/openai/v1/responses",
    { ...RESPONSE, tools: [{ type: "shell", environment: { type } }] },
    "runs at the provider",
  ]),
  [
    "a shell with an environment that is a text",
    "/openai/v1/responses",
    { ...RESPONSE, tools: [{ type: "shell", environment: "local" }] },
    "runs at the provider",
  ],
  [
    "a remote server in a namespace",
    "/openai/v1/responses",
    { ...RESPONSE, tools: [{ type: "namespace", tools: [{ type: "mcp", server_url: "x" }] }] },
    "runs at the provider",
  ],
  [
    "a container in a namespace in a namespace",
    "/openai/v1/responses",
    {
      ...RESPONSE,
      tools: [
        {
          type: "namespace",
          tools: [{ type: "namespace", tools: [{ type: "shell", environment: { type: "container_auto" } }] }],
        },
      ],
    },
    "runs at the provider",
  ],
  ["namespaces in namespaces", "/openai/v1/responses", { ...RESPONSE, tools: [namespaces(9)] }, "nested too deep"],
  [
    "a remote server in a block",
    "/openai/v1/responses",
    { ...RESPONSE, input: [{ type: "tool_search_output", tools: [{ type: "mcp", server_url: "x" }] }] },
    "runs at the provider",
  ],
  [
    "a tool with a list as its type",
    "/openai/v1/responses",
    { ...RESPONSE, tools: [{ type: ["web_search"] }] },
    "is not a text",
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
    "stored at the provider",
    "/anthropic/v1/messages",
    { ...MESSAGE, messages: [{ content: [{ source: { type: "file", file_id: "f" } }] }] },
    "stored at the provider",
  ],
  [
    "a file of Google",
    `${MODEL}:generateContent`,
    { contents: [{ parts: [{ fileData: { fileUri: "gs://x" } }] }] },
    "stored at the provider",
  ],
  [
    "a file of Google in a result",
    `${MODEL}:generateContent`,
    { contents: [{ parts: [{ functionResponse: { parts: [{ fileData: { fileUri: "gs://x" } }] } }] }] },
    "stored at the provider",
  ],
  ...["systemInstruction", "system_instruction"].map((key): [string, string, JsonObject, string] => [
    `a file of Google in ${key}`,
    `${MODEL}:generateContent`,
    { ...CONTENTS, [key]: { parts: [{ file_data: { file_uri: "gs://x" } }] } },
    "would fetch",
  ]),
  ["no model", "/anthropic/v1/messages", { messages: [] }, "names no model"],
])("%s is refused", (_title, target, body, message) => {
  const result = call(target, body);
  expect(result.ok ? "passed" : result.message).toContain(message);
});

test("other methods and targets are refused", () => {
  expect(call("/anthropic/v1/messages", MESSAGE, "GET").ok).toBe(false);
  expect(providerOf("/v1/messages")).toBeNull();
  expect(providerOf("http://a.test/anthropic/v1/messages")).toBeNull();
  expect(modelCall("POST", "/anthropic/v1/messages", "anthropic", undefined, 0).ok).toBe(false);
});

test("a key in the query is dropped; answers are not stored; a stream ends with its usage", () => {
  expect(call(`${MODEL}:generateContent?key=abc&alt=sse`, CONTENTS)).toMatchObject({
    path: expect.stringMatching(/t\?alt=sse$/),
  });
  expect(call("/openai/v1/responses", { ...RESPONSE, store: true })).toMatchObject({ body: { store: false } });
  expect(call("/openai/v1/chat/completions", { ...CHAT, stream: true })).toMatchObject({
    body: { stream_options: { include_usage: true } },
  });
});
