// Frames of a tool host: the same messages however the bytes are split, without copying the whole buffer for each.
import fc from "fast-check";
import { expect, test } from "vitest";
import { frameBytesMax, frameValuesMax, ToolFrames, toolFrame } from "./frames.ts";

const framed = (message: object): Buffer => {
  const frame = toolFrame(message);
  if (frame === null) throw new Error("too long");
  return frame;
};

test("messages are the same, however the bytes are split", () => {
  const messages = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 20 });
  fc.assert(
    fc.property(messages, fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 40 }), (said, cuts) => {
      const bytes = Buffer.concat(said.map(framed));
      const frames = new ToolFrames();
      const heard: unknown[] = [];
      for (let at = 0, cut = 0; at < bytes.length; cut++) {
        const length = 1 + (cuts[cut % cuts.length] ?? 0);
        heard.push(...(frames.take(bytes.subarray(at, at + length)) ?? ["broken"]));
        at += length;
      }
      expect(heard).toEqual(JSON.parse(JSON.stringify(said)));
    }),
  );
});

// The test's timeout is the limit: quadratic work would take minutes.
test("a hundred thousand small messages in one chunk are split", () => {
  const bytes = Buffer.concat(Array.from({ length: 100_000 }, (_, at) => framed({ at })));
  expect(new ToolFrames().take(bytes)?.length).toBe(100_000);
});

const longText = (bytes: string): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(Buffer.byteLength(bytes));
  return Buffer.concat([head, Buffer.from(bytes)]);
};

test("a long text is a message, whatever it contains", () => {
  const text = '[{",'.repeat(frameValuesMax);
  expect(new ToolFrames().take(framed({ text, last: true }))).toEqual([{ text, last: true }]);
});

test("a long message of many values is refused, before all of it has arrived", () => {
  const bytes = longText(`{"many":[${"[],".repeat(2 * frameValuesMax)}[]]}`);
  const frames = new ToolFrames();
  expect(frames.take(framed({ before: 1 }))).toEqual([{ before: 1 }]);
  let at = 0;
  while (at < bytes.length && frames.take(bytes.subarray(at, at + 65_536)) !== null) at += 65_536;
  expect(at).toBeGreaterThan(frameValuesMax);
  expect(at).toBeLessThan(bytes.length * 0.6);
});

test("a million bytes that arrive one by one are split", () => {
  const bytes = framed({ text: "x".repeat(1_000_000) });
  const frames = new ToolFrames();
  let heard = 0;
  for (let at = 0; at < bytes.length; at++) heard += frames.take(bytes.subarray(at, at + 1))?.length ?? 0;
  expect(heard).toBe(1);
});

test.each<[string, Buffer]>([
  ["no JSON", Buffer.from([1, 0, 0, 0, 0x7b])],
  ["a length past the limit", Buffer.from(Uint32Array.of(frameBytesMax + 1).buffer)],
])("%s ends the conversation", (_, bytes) => {
  expect(new ToolFrames().take(bytes)).toBeNull();
});
