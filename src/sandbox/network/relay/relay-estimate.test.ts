// What a request can cost at most is known before it is sent, and its output can be limited.
import { expect, test } from "vitest";
import type { JsonObject } from "../../../core/base/json.ts";
import type { ModelProvider } from "../../../core/notation/config/model-setting.ts";
import { estimateOf, withOutputLimit } from "./relay-estimate.ts";

const PATHS: Readonly<Record<string, readonly [ModelProvider, string]>> = {
  messages: ["anthropic", "/v1/messages"],
  responses: ["openai", "/v1/responses"],
  completions: ["openai", "/v1/chat/completions"],
  gemini: ["gemini", "/v1beta/models/m:generateContent"],
};

test.each<[string, JsonObject, number | null, number]>([
  ["messages", { max_tokens: 32_000 }, 32_000, 1_024],
  ["messages", { max_tokens: 9 }, 9, 9],
  ["messages", { max_tokens: 9_000, thinking: { type: "enabled", budget_tokens: 8_000 } }, 9_000, 8_001],
  ["messages", { max_tokens: 9_000, thinking: { type: "enabled", budget_tokens: 50_000 } }, 59_000, 59_000],
  ["messages", {}, null, 1_024],
  ["responses", {}, null, 1_024],
  ["responses", { max_output_tokens: 500, max_tokens: 9 }, 500, 500],
  ["completions", { max_tokens: 5, max_completion_tokens: 7 }, 7, 7],
  ["completions", { max_tokens: 5_000, n: 4 }, 20_000, 4_096],
  ["gemini", { generationConfig: { maxOutputTokens: 100, candidateCount: 3 } }, 300, 300],
  ["gemini", { generation_config: { max_output_tokens: 100 } }, 100, 100],
])("%s %j allows %s tokens of output", (api, body, outputTokens, outputLeast) => {
  const [provider, path] = PATHS[api] as readonly [ModelProvider, string];
  expect(estimateOf(provider, path, body, 50)).toMatchObject({ inputTokens: 50, outputTokens, outputLeast });
});

test.each<[string, JsonObject, string]>([
  ["messages", { max_tokens: "9" }, "max_tokens"],
  ["messages", { max_tokens: -1 }, "max_tokens"],
  ["messages", { max_tokens: 1e12 }, "max_tokens"],
  ["messages", { max_tokens: 2, thinking: { budget_tokens: 0.5 } }, "budget_tokens"],
  ["completions", { n: [1] }, "n"],
  ["gemini", { generationConfig: { maxOutputTokens: true } }, "maxOutputTokens"],
])("%s %j is refused", (api, body, field) => {
  const [provider, path] = PATHS[api] as readonly [ModelProvider, string];
  expect(estimateOf(provider, path, body, 50)).toBe(`\`${field}\` is not a whole number`);
});

test.each<[string, boolean]>([
  ["{}", false],
  ['{"service_tier":"auto"}', false],
  ['{"service_tier":"priority"}', true],
  ['{"service_tier":["auto"]}', true],
  ['{"speed":"standard"}', false],
  ['{"speed":"fast"}', true],
  ['{"prediction":{"type":"content","content":"x"}}', true],
])("%s may cost more than the listed price: %s", (body, isPremium) => {
  const parsed = JSON.parse(body) as JsonObject;
  expect(estimateOf("openai", "/v1/chat/completions", parsed, 50)).toMatchObject({ isPremium });
});

test.each<[string, JsonObject, JsonObject]>([
  ["messages", { max_tokens: 9_000 }, { max_tokens: 2_000 }],
  ["responses", { input: "x" }, { input: "x", max_output_tokens: 2_000 }],
  ["completions", { n: 2 }, { n: 2, max_completion_tokens: 1_000 }],
  ["completions", { max_tokens: 9_000 }, { max_tokens: 2_000 }],
  ["gemini", {}, { generationConfig: { maxOutputTokens: 2_000 } }],
  ["gemini", { generation_config: { topK: 1 } }, { generation_config: { topK: 1, maxOutputTokens: 2_000 } }],
])("%s %j with 2000 tokens of output", (api, body, limited) => {
  const [provider, path] = PATHS[api] as readonly [ModelProvider, string];
  expect(withOutputLimit(provider, path, body, 2_000)).toEqual(limited);
});
