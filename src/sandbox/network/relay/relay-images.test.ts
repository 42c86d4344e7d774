// An image is reserved as one only where the provider reads it as one. Everything in the same shape elsewhere is text.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../core/base/json.ts";
import { imageSurplus, type RequestFormat } from "./relay-images.ts";

const DATA = "A".repeat(10_000);
const SURPLUS = 10_000 - 8_192;
const URL = `data:image/png;base64,${DATA}`;

const source = { type: "base64", media_type: "image/png", data: DATA };
const image = { type: "image", source };
const part = { type: "image_url", image_url: { url: URL } };
const input = { type: "input_image", image_url: URL };
const inline = { inlineData: { mimeType: "image/png", data: DATA } };

const user = (...content: readonly Json[]): JsonObject => ({ messages: [{ role: "user", content }] });
const items = (...list: readonly Json[]): JsonObject => ({ input: list });
const parts = (...list: readonly Json[]): JsonObject => ({ contents: [{ role: "user", parts: list }] });

test.each<[RequestFormat, string, JsonObject, number]>([
  ["messages", "an image", user(image), 1],
  ["messages", "two images", user(image, { type: "text", text: "and" }, image), 2],
  ["messages", "an image in a result of a tool", user({ type: "tool_result", tool_use_id: "t", content: [image] }), 1],
  ["completions", "an image", user(part), 1],
  ["responses", "an image", items({ role: "user", content: [input] }), 1],
  ["responses", "an image in a message by type", items({ type: "message", role: "user", content: [input] }), 1],
  ["responses", "an image from a function", items({ type: "function_call_output", call_id: "c", output: [input] }), 1],
  ["responses", "an image from a tool", items({ type: "custom_tool_call_output", call_id: "c", output: [input] }), 1],
  ["gemini", "an image", parts(inline), 1],
  ["gemini", "an image in the other spelling", parts({ inline_data: { mime_type: "image/webp", data: DATA } }), 1],
  ["gemini", "an image from a function", parts({ functionResponse: { name: "f", parts: [inline] } }), 1],
])("%s: %s is an image", (format, _title, body, images) => {
  expect(imageSurplus(format, body)).toBe(images * SURPLUS);
});

const text = (value: string): JsonObject => ({ type: "text", text: value });
test.each<[RequestFormat, string, JsonObject]>([
  ["messages", "a text that is an address", user(text(URL))],
  ["messages", "a text that is a serialised block", user(text(JSON.stringify(image)))],
  ["messages", "a text with a source", user({ ...text("x"), source })],
  ["messages", "a message that is a text", { messages: [{ role: "user", content: URL }] }],
  ["messages", "an assistant's block", { messages: [{ role: "assistant", content: [image] }] }],
  ["messages", "arguments of a tool", user({ type: "tool_use", id: "t", name: "n", input: { content: [image] } })],
  ["messages", "arguments that are a block", user({ type: "tool_use", id: "t", name: "n", input: image })],
  [
    "messages",
    "a result in a result",
    user({ type: "tool_result", content: [{ type: "tool_result", content: [image] }] }),
  ],
  ["messages", "a document", user({ type: "document", source: { ...source, media_type: "application/pdf" } })],
  ["messages", "a document that is called an image", user({ type: "document", source })],
  ["messages", "blocks of a document", user({ type: "document", source: { type: "content", content: [image] } })],
  ["messages", "a source that is text", user({ type: "image", source: { ...source, type: "text" } })],
  ["messages", "a source without a type", user({ type: "image", source: { media_type: "image/png", data: DATA } })],
  ["messages", "a source in a list", user({ type: "image", source: [source] })],
  ["messages", "data that is no base64", user({ type: "image", source: { ...source, data: `${DATA}, wo` } })],
  [
    "messages",
    "data of base64 with a line break",
    user({ type: "image", source: { ...source, data: `${DATA}AAA\n` } }),
  ],
  ["messages", "a type of no image", user({ type: "image", source: { ...source, media_type: "image/svg+xml" } })],
  ["messages", "a type after a line", user({ type: "image", source: { ...source, media_type: "image/png\n" } })],
  ["messages", "a type in a list", user({ type: ["image"], source })],
  ["messages", "the system's text", { system: [image] }],
  ["messages", "a schema of a tool", { tools: [{ name: "n", input_schema: { enum: [image, URL] } }] }],
  ["messages", "metadata", { metadata: { user_id: URL, content: [image] } }],
  ["messages", "messages that are no list", { messages: { role: "user", content: [image] } }],
  ["messages", "a block of another provider", user(part, input, inline)],
  ["completions", "a text", user(text(URL))],
  ["completions", "a system's part", { messages: [{ role: "system", content: [part] }] }],
  ["completions", "a tool's part", { messages: [{ role: "tool", content: [part] }] }],
  ["completions", "an address without its object", user({ type: "image_url", image_url: URL })],
  ["completions", "a part without a type", user({ image_url: { url: URL } })],
  ["completions", "a text with an address", user({ ...text("x"), image_url: { url: URL } })],
  ["completions", "an address that is no base64", user({ ...part, image_url: { url: `data:image/png,${DATA}` } })],
  ["completions", "an address with more", user({ ...part, image_url: { url: `${URL}, words` } })],
  ["completions", "an address of a page", user({ ...part, image_url: { url: `data:text/html;base64,${DATA}` } })],
  ["completions", "arguments of a call", { messages: [{ role: "user", tool_calls: [{ function: part }] }] }],
  ["completions", "a prediction", { prediction: { type: "content", content: [part] } }],
  ["responses", "a text", items({ role: "user", content: [{ type: "input_text", text: URL }] })],
  ["responses", "an input that is a text", { input: URL }],
  ["responses", "an assistant's part", items({ role: "assistant", content: [input] })],
  ["responses", "an item that is a part", items(input)],
  ["responses", "arguments of a call", items({ type: "function_call", arguments: JSON.stringify(input) })],
  ["responses", "an output that is a text", items({ type: "function_call_output", output: URL })],
  ["responses", "content of an output", items({ type: "function_call_output", role: "user", content: [input] })],
  ["responses", "a reasoning item", items({ type: "reasoning", role: "user", content: [input], summary: [input] })],
  ["responses", "instructions", { instructions: URL }],
  ["gemini", "a text", parts({ text: URL })],
  ["gemini", "data in both spellings", parts({ ...inline, inline_data: { mime_type: "image/png", data: DATA } })],
  ["gemini", "arguments of a call", parts({ functionCall: { name: "f", args: inline } })],
  ["gemini", "a response of a function", parts({ functionResponse: { name: "f", response: { parts: [inline] } } })],
  ["gemini", "a document", parts({ inlineData: { mimeType: "application/pdf", data: DATA } })],
  ["gemini", "the system's text", { systemInstruction: { parts: [inline] } }],
  ["gemini", "an example of a schema", { tools: [{ functionDeclarations: [{ parameters: { example: inline } }] }] }],
])("%s: %s is text", (format, _title, body) => {
  expect(imageSurplus(format, body)).toBe(0);
});

const sized = (length: number): Readonly<Record<RequestFormat, JsonObject>> => {
  const data = "A".repeat(length);
  const url = `data:image/png;base64,${data}`;
  return {
    messages: user({ type: "image", source: { ...source, data } }),
    completions: user({ type: "image_url", image_url: { url } }),
    responses: items({ role: "user", content: [{ type: "input_image", image_url: url }] }),
    gemini: parts({ inlineData: { mimeType: "image/png", data } }),
  };
};

test.each<RequestFormat>(["messages", "responses", "completions", "gemini"])(
  "%s: an image is reserved whole up to 8192 tokens",
  (format) => {
    expect(imageSurplus(format, sized(8_192)[format])).toBe(0);
    expect(imageSurplus(format, sized(8_196)[format])).toBe(4);
  },
);

// Whatever the shape, a reservation never falls below what the text outside of images is.
test("no request has more surplus than data in images", () => {
  const leaf = fc.constantFrom<Json>(URL, DATA, "image", "user", image, part, input, inline, null, 7);
  const key = fc.constantFrom(
    "type",
    "role",
    "content",
    "source",
    "parts",
    "output",
    "image_url",
    "inlineData",
    "data",
  );
  const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
    tree: fc.oneof(
      { depthSize: "small" },
      leaf,
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
    ),
  }));
  const formats = fc.constantFrom<RequestFormat>("messages", "responses", "completions", "gemini");
  fc.assert(
    fc.property(formats, tree, (format, value) => {
      const body = { messages: value, input: value, contents: value };
      const surplus = imageSurplus(format, body);
      const images = JSON.stringify(body).split(DATA).length - 1;
      expect(surplus % SURPLUS).toBe(0);
      expect(surplus / SURPLUS).toBeLessThanOrEqual(images / 3);
    }),
    { numRuns: 300 },
  );
});
