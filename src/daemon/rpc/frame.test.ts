import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesFrame, endFrame, type Frame, FrameCutter, frameHeader, jsonFrame, partsOf } from "./frame.ts";

function cut(pieces: readonly Uint8Array[], jsonBytesMax = 1_000): readonly (Frame | string)[] {
  const cutter = new FrameCutter(jsonBytesMax);
  const frames: (Frame | string)[] = [];
  // One buffer for all chunks, as in a socket's read: no parsed frame may reference it.
  const buffer = Buffer.alloc(Math.max(0, ...pieces.map(({ length }) => length)));
  for (const piece of pieces) {
    buffer.set(piece);
    const problem = cutter.take(buffer, piece.length, (frame) => {
      frames.push(frame);
      return true;
    });
    buffer.fill(0xee);
    if (problem !== null) return [...frames, problem];
  }
  return frames;
}

const plain = (frames: readonly (Frame | string)[]): unknown =>
  frames.map((frame) =>
    typeof frame === "string" || frame.kind !== "bytes"
      ? frame
      : { ...frame, bytes: Buffer.from(frame.bytes).toString("hex") },
  );

/** Arbitrary bytes in a JSON frame. */
const noText = (bytes: Uint8Array): Uint8Array => Buffer.concat([Buffer.from([0, 0, 0, bytes.length, 0]), bytes]);

describe("frames", () => {
  test.each<readonly [string, readonly number[], string | null]>([
    ["text", [0x61, 0xc3, 0xa4, 0xf0, 0x9f, 0x98, 0x80], "aä😀"],
    ["a byte order mark at the start", [0xef, 0xbb, 0xbf, 0x61], "\ufeffa"],
    ["the replacement character itself", [0xef, 0xbf, 0xbd], "\ufffd"],
    ["an invalid byte", [0x61, 0xff], null],
    ["a truncated character", [0xc3], null],
    ["an overlong character", [0xc0, 0x80], null],
    ["an unpaired surrogate", [0xed, 0xa0, 0x80], null],
  ])("JSON is UTF-8 or rejected: %s", (_, bytes, text) => {
    expect(cut([noText(Uint8Array.from(bytes))])).toEqual([{ kind: "json", text }]);
  });

  test("a header as text equals the header as bytes", () => {
    for (const length of [0, 1, 127, 128, 255, 256, 65_535, 65_536, 1_048_576])
      expect(Buffer.from(frameHeader(length), "latin1")).toEqual(
        Buffer.from(jsonFrame("x".repeat(length)).subarray(0, 5)),
      );
  });

  test("however a stream is split, the frames are the same", () => {
    const frame = fc.oneof(
      fc.string({ unit: "binary", maxLength: 50 }).map(jsonFrame),
      fc.uint8Array({ maxLength: 50 }).map(noText),
      fc
        .tuple(fc.nat(0xffff_ffff), fc.nat(255), fc.uint8Array({ maxLength: 300 }))
        .map(([id, channel, bytes]) => bytesFrame(id, channel, bytes)),
      fc.tuple(fc.nat(0xffff_ffff), fc.nat(255)).map(([id, channel]) => endFrame(id, channel)),
    );
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (frames, lengths) => {
          const whole = Buffer.concat(frames);
          const pieces: Uint8Array[] = [];
          for (let at = 0, turn = 0; at < whole.length; turn++) {
            const length = lengths[turn % lengths.length] as number;
            pieces.push(whole.subarray(at, at + length));
            at += length;
          }
          const once = cut([whole]);
          expect(once.length).toBe(frames.length);
          expect(plain(cut(pieces))).toEqual(plain(once));
        },
      ),
    );
  });

  test("any input gives frames or one problem, and memory only for what arrived", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const cutter = new FrameCutter(100);
        cutter.take(Buffer.from(bytes), bytes.length, () => true);
        expect(cutter.pendingBytes).toBeLessThanOrEqual(bytes.length);
      }),
    );
  });

  test.each<readonly [string, readonly number[], string | null]>([
    ["the longest allowed JSON", [0, 0, 3, 232, 0], null],
    ["one byte more", [0, 0, 3, 233, 0], "too_large"],
    ["the most bytes allowed", [0, 1, 0, 5, 1], null],
    ["one more", [0, 1, 0, 6, 1], "too_large"],
    ["the last kind", [0, 0, 0, 5, 2], null],
    ["the one after it", [0, 0, 0, 5, 3], "malformed"],
    ["bytes without their number", [0, 0, 0, 4, 1, 0, 0, 0, 0], "malformed"],
    ["an end with a payload", [0, 0, 0, 6, 2, 0, 0, 0, 0, 0, 0], "malformed"],
  ])("%s", (_, bytes, problem) => {
    expect(cut([Uint8Array.from(bytes)])).toEqual(problem === null ? [] : [problem]);
  });

  test("nothing is delivered after the callback returned false", () => {
    const cutter = new FrameCutter(1_000);
    let given = 0;
    const both = Buffer.concat([jsonFrame("1"), jsonFrame("2")]);
    cutter.take(both, both.length, () => {
      given++;
      return false;
    });
    expect(given).toBe(1);
  });

  test("bytes are sent in parts that fit", () => {
    expect([...partsOf(new Uint8Array(150_000))].map(({ length }) => length)).toEqual([65_536, 65_536, 18_928]);
    expect(() => bytesFrame(1, 1, new Uint8Array(65_537))).toThrow(RangeError);
  });
});

test("a consumer that pauses gets the rest later, in order, and nothing is lost", () => {
  const cutter = new FrameCutter(1_000);
  const bytes = Buffer.concat(["1", "2", "3", "4"].map(jsonFrame));
  const given: unknown[] = [];
  const give = (frame: Frame): boolean => {
    given.push(frame.kind === "json" ? frame.text : null);
    return false;
  };
  expect(cutter.take(bytes, bytes.length - 3, give)).toBeNull();
  expect([given.length, cutter.pendingBytes]).toEqual([1, bytes.length - 3 - bytes.length / 4]);
  cutter.keepForLater(bytes.subarray(-3));
  for (let times = 0; times < 3; times++) expect(cutter.goOn(give)).toBeNull();
  expect([given, cutter.pendingBytes]).toEqual([["1", "2", "3", "4"], 0]);
});
