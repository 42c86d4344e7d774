import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { frameOf } from "../plan/start/frame.ts";
import { AnswerStream } from "./wire.ts";

function cut(chunks: readonly Uint8Array[]): readonly (readonly [string, string])[] | null {
  const frames: [string, string][] = [];
  const stream = new AnswerStream((kind, payload) => frames.push([String.fromCharCode(kind), payload.toString("hex")]));
  return chunks.every((chunk) => stream.push(Buffer.from(chunk))) ? frames : null;
}

describe("a stream of answers", () => {
  test("gives the same frames, however it is split into chunks", () => {
    const frame = fc.tuple(fc.constantFrom("A", "R", "F"), fc.uint8Array({ maxLength: 40 }));
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(30), { maxLength: 40 }), (frames, cuts) => {
        const whole = Buffer.concat(frames.map(([kind, payload]) => frameOf(kind, payload)));
        const chunks: Buffer[] = [];
        let at = 0;
        for (const size of cuts) {
          chunks.push(whole.subarray(at, at + size));
          at += size;
        }
        chunks.push(whole.subarray(Math.min(at, whole.length)));
        expect(cut(chunks)).toEqual(frames.map(([kind, payload]) => [kind, Buffer.from(payload).toString("hex")]));
      }),
    );
  });

  test("ends at an impossible length, as soon as it is read", () => {
    expect(cut([Buffer.from([1, 0, 16, 0, 65])])).toBeNull();
    expect(cut([Buffer.from([0, 0, 16, 0, 65])])).toEqual([]);
  });

  test("that ends in the middle of a frame gives no answer", () => {
    expect(cut([frameOf("A", Buffer.from("abc")).subarray(0, 7)])).toEqual([]);
  });
});
