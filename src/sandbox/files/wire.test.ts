import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAnswer, readEntries, readFacts, readMatches, textOf } from "./wire.ts";

const numbered = (status: number, rest: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([1, 0, 0, 0, status]), Buffer.from(rest as string)]);

describe("an answer", () => {
  test.each<[string, Buffer, unknown]>([
    ["done", numbered(0, "body"), { status: "done", body: Buffer.from("body") }],
    ["refused", numbered(1, "\x02\0\0\0why\0"), { status: "refused", errno: 2, why: "why" }],
    ["a link", numbered(2, "/a/b c\0"), { status: "link", real: ["a", "b c"] }],
    ["a link to /", numbered(2, "/\0"), { status: "link", real: [] }],
    ["a link to a name that is not text", numbered(2, Buffer.from([47, 0xff, 0])), { status: "link", real: null }],
    ["a relative link", numbered(2, "a\0"), { status: "link", real: null }],
    ["a refusal without its end", numbered(1, "\x02\0\0\0why"), null],
    ["a refusal with more after it", numbered(1, "\x02\0\0\0why\0x"), null],
    ["a link with more after it", numbered(2, "/a\0x"), null],
    ["another status", numbered(3, ""), null],
    ["no status", Buffer.from([1, 0, 0, 0]), null],
  ])("%s", (_, payload, expected) => {
    expect(readAnswer(payload)).toEqual(expected);
  });

  test("of any bytes never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const body = Buffer.from(bytes);
        for (const read of [readAnswer, readEntries, readFacts, readMatches]) expect(() => read(body)).not.toThrow();
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a name", () => {
  test("is text only if its bytes are", () => {
    expect(textOf(Buffer.from("é🜁"))).toBe("é🜁");
    expect(textOf(Buffer.from("\uFFFD"))).toBe("\uFFFD");
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0x61, 0xc0, 0x80]])
      expect(textOf(Uint8Array.from(bytes))).toBeNull();
  });
});
