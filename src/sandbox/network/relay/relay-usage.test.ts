// Tokens are read from the usage fields of each provider, whole or streamed, in any pieces.
import { expect, test } from "vitest";
import { UsageCounter } from "./relay-usage.ts";

const STREAMS: readonly [string, string, number, number][] = [
  [
    "Messages",
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":1}}}\n\ndata: {"type":"content_block_delta","delta":{"text":"\\"usage\\": 9"}}\n\ndata: {"type":"message_delta","usage":{"output_tokens":12}}\n\n',
    10,
    12,
  ],
  [
    "Responses",
    'data: {"type":"response.created","response":{"usage":null}}\n\ndata: {"type":"response.completed","response":{"usage":{"input_tokens":5,"output_tokens":6}}}\n\n',
    5,
    6,
  ],
  [
    "Chat Completions",
    'data: {"choices":[{}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":2}}\n\ndata: [DONE]\n',
    8,
    2,
  ],
  [
    "Gemini",
    'data: {"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":1}}\r\n\r\ndata: {"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":9,"thoughtsTokenCount":2}}',
    4,
    11,
  ],
];

test.each(STREAMS)("a stream of %s", (_title, text, input, output) => {
  for (const size of [1, 7, text.length]) {
    const counter = new UsageCounter(true);
    for (let at = 0; at < text.length; at += size) counter.take(Buffer.from(text.slice(at, at + size)));
    expect(counter.end()).toEqual({ input, output });
  }
});

test.each([
  ['{"usage":{"input_tokens":1,"output_tokens":2}}', { input: 1, output: 2 }],
  ['{"usage":{"prompt_tokens":3,"completion_tokens":4}}', { input: 3, output: 4 }],
  ['{"usageMetadata":{"promptTokenCount":5}}', { input: 5, output: 0 }],
  ['{"usage":{"input_tokens":-1,"output_tokens":1e300}}', null],
  ['{"text":"usage"}', null],
  ['{"usage":', null],
  ["", null],
])("%s", (text, usage) => {
  const counter = new UsageCounter(false);
  counter.take(Buffer.from(text));
  expect(counter.end()).toEqual(usage);
});

test("a line that never ends is not held", () => {
  const counter = new UsageCounter(true);
  for (let count = 0; count < 40; count++) counter.take(Buffer.alloc(262_144, "x"));
  counter.take(Buffer.from('\ndata: {"usage":{"output_tokens":1}}\n'));
  expect(counter.end()).toEqual({ input: 0, output: 1 });
});
