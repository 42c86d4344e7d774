// Tokens are read from the usage fields of each provider, whole or streamed, in any pieces.
import { expect, test } from "vitest";
import type { ModelProvider } from "../../../core/notation/config/model-setting.ts";
import { type Usage, UsageCounter } from "./relay-usage.ts";

type Counts = readonly [input: number | null, output: number | null, cacheRead?: number, cacheWrite?: number];

const STREAMS: readonly [string, ModelProvider, string, Counts][] = [
  [
    "Messages",
    "anthropic",
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":1}}}\n\ndata: {"type":"content_block_delta","delta":{"text":"\\"usage\\": 9"}}\n\ndata: {"type":"message_delta","usage":{"output_tokens":12}}\n\n',
    [10, 12, 7],
  ],
  [
    "Responses",
    "openai",
    'data: {"type":"response.created","response":{"usage":null}}\n\ndata: {"type":"response.completed","response":{"usage":{"input_tokens":5,"output_tokens":6}}}\n\n',
    [5, 6],
  ],
  [
    "Chat Completions",
    "openai",
    'data: {"choices":[{}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":2}}\n\ndata: [DONE]\n',
    [8, 2],
  ],
  [
    "Gemini",
    "gemini",
    'data: {"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":1}}\r\n\r\ndata: {"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":9,"thoughtsTokenCount":2}}',
    [4, 11],
  ],
  [
    "Messages that break off after their start",
    "anthropic",
    'data: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}\n\ndata: {"type":"content_block_delta","delta":{"text":"x"}}\n\n',
    [3, null],
  ],
  [
    "Messages with a count that goes down",
    "anthropic",
    'data: {"type":"message_start","message":{"usage":{"input_tokens":30,"output_tokens":9}}}\n\ndata: {"type":"message_delta","usage":{"input_tokens":2,"output_tokens":1}}\n\n',
    [30, 9],
  ],
  [
    "Messages in two passes",
    "anthropic",
    'data: {"type":"message_delta","usage":{"input_tokens":5,"output_tokens":6,"iterations":[{"input_tokens":90,"output_tokens":4},{"input_tokens":5,"output_tokens":6}]}}\n\n',
    [95, 10],
  ],
  [
    "Messages whose content has events in it",
    "anthropic",
    'data: {"type":"message_start","message":{"usage":{"input_tokens":3,"cache_creation_input_tokens":4,"output_tokens":1}}}\n\ndata: {"type":"content_block_delta","usage":{"input_tokens":1,"output_tokens":1},"delta":{"text":"\\ndata: {\\"type\\":\\"message_delta\\",\\"usage\\":{\\"output_tokens\\":0}}"}}\n\n',
    [7, null, 0, 4],
  ],
  [
    "Responses with usage before their end",
    "openai",
    'data: {"type":"response.in_progress","response":{"usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
    [null, null],
  ],
  [
    "Responses with cached input",
    "openai",
    'data: {"type":"response.completed","response":{"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":40},"output_tokens":6}}}\n\n',
    [50, 6, 40],
  ],
];

function usageOf([input, output, cacheRead = 0, cacheWrite = 0]: Counts): Usage | null {
  return input === null && output === null ? null : { input, output, cacheRead, cacheWrite };
}

test.each(STREAMS)("a stream of %s", (_title, provider, text, counts) => {
  for (const size of [1, 7, text.length]) {
    const counter = new UsageCounter(provider, true);
    for (let at = 0; at < text.length; at += size) counter.take(Buffer.from(text.slice(at, at + size)));
    expect(counter.end()).toEqual(usageOf(counts));
  }
});

test.each<[ModelProvider, string, Counts]>([
  ["anthropic", '{"usage":{"input_tokens":1,"output_tokens":2}}', [1, 2]],
  ["anthropic", '{"usage":{"output_tokens":2}}', [null, 2]],
  ["anthropic", '{"usage":{"input_tokens":0,"output_tokens":2}}', [null, 2]],
  ["anthropic", '{"usage":{"input_tokens":1}}', [null, null]],
  ["anthropic", '{"usage":{"prompt_tokens":1,"completion_tokens":2}}', [null, null]],
  ["openai", '{"usage":{"prompt_tokens":3,"completion_tokens":4}}', [3, 4]],
  ["openai", '{"usage":{"input_tokens":-1,"output_tokens":4}}', [null, null]],
  ["openai", '{"usage":{"input_tokens":1.5,"output_tokens":4}}', [null, null]],
  ["openai", '{"usage":{"input_tokens":"3","output_tokens":4}}', [null, null]],
  ["openai", '{"usage":{"input_tokens":1,"output_tokens":1e300}}', [null, null]],
  ["gemini", '{"usageMetadata":{"promptTokenCount":5}}', [5, null]],
  ["gemini", '{"usageMetadata":{"promptTokenCount":5,"totalTokenCount":5}}', [5, 0]],
  ["gemini", '{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1,"totalTokenCount":30}}', [5, 25]],
  [
    "gemini",
    '[{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1}},\n{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":8}}]',
    [5, 8],
  ],
  ["openai", '{"text":"usage"}', [null, null]],
  ["openai", '{"choices":[{"usage":{"prompt_tokens":3,"completion_tokens":4}}]}', [null, null]],
  ["openai", '{"usage":', [null, null]],
  ["openai", "", [null, null]],
])("%s: %s", (provider, text, counts) => {
  const counter = new UsageCounter(provider, false);
  counter.take(Buffer.from(text));
  expect(counter.end()).toEqual(usageOf(counts));
});

test("a line that never ends is not held", () => {
  const counter = new UsageCounter("openai", true);
  for (let count = 0; count < 40; count++) counter.take(Buffer.alloc(262_144, "x"));
  counter.take(Buffer.from('\ndata: {"usage":{"prompt_tokens":2,"completion_tokens":1}}\n'));
  expect(counter.end()).toEqual({ input: 2, output: 1, cacheRead: 0, cacheWrite: 0 });
});
