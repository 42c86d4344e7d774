import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesFrame, endFrame, type Frame, FrameCutter, jsonFrame, partsOf } from "./frame.ts";

function cut(pieces: readonly Uint8Array[], jsonBytesMax = 1_000): readonly (Frame | string)[] {
  const cutter = new FrameCutter(jsonBytesMax);
  const frames: (Frame | string)[] = [];
  for (const piece of pieces) {
    const problem = cutter.take(piece, (frame) => {
      frames.push(frame);
      return true;
    });
    if (problem !== null) return [...frames, problem];
  }
  return frames;
}

const plain = (frames: readonly (Frame | string)[]): unknown =>
  frames.map((frame) =>
    typeof frame === "string" || frame.kind === "end"
      ? frame
      : {
          ...frame,
          payload: undefined,
          bytes: Buffer.from(frame.kind === "json" ? frame.payload : frame.bytes).toString("hex"),
        },
  );

describe("frames", () => {
  test("however a stream is cut into pieces, the frames are the same", () => {
    const frame = fc.oneof(
      fc.string({ unit: "binary", maxLength: 50 }).map(jsonFrame),
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

  test("whatever arrives is frames or one problem, and memory is taken for what arrived alone", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const cutter = new FrameCutter(100);
        cutter.take(bytes, () => true);
        expect(cutter.pendingBytes).toBeLessThanOrEqual(bytes.length);
      }),
    );
  });

  test.each<readonly [string, readonly number[], string | null]>([
    ["the longest JSON there may be", [0, 0, 3, 232, 0], null],
    ["one byte more", [0, 0, 3, 233, 0], "too_large"],
    ["the most bytes there may be", [0, 1, 0, 5, 1], null],
    ["one more", [0, 1, 0, 6, 1], "too_large"],
    ["the last kind", [0, 0, 0, 5, 2], null],
    ["the one after it", [0, 0, 0, 5, 3], "malformed"],
    ["bytes without their number", [0, 0, 0, 4, 1, 0, 0, 0, 0], "malformed"],
    ["an end with something behind it", [0, 0, 0, 6, 2, 0, 0, 0, 0, 0, 0], "malformed"],
  ])("%s", (_, bytes, problem) => {
    expect(cut([Uint8Array.from(bytes)])).toEqual(problem === null ? [] : [problem]);
  });

  test("nothing is given after somebody said that it is enough", () => {
    const cutter = new FrameCutter(1_000);
    let given = 0;
    cutter.take(Buffer.concat([jsonFrame("1"), jsonFrame("2")]), () => {
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
