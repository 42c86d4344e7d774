// Every value has one canonical text.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/base/json.ts";
import { canonicalJson, canonicalWithin } from "./canonical.ts";

const json = fc.jsonValue({ noUnicodeString: false, maxDepth: 5 }) as fc.Arbitrary<Json>;

/** The same value with its members in another order. */
function turned(value: Json): Json {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, each]): [string, Json] => [key, turned(each)])
      .reverse(),
  );
}

describe("canonical JSON", () => {
  test.each([
    [{ b: 1, a: [true, null] }, '{"a":[true,null],"b":1}'],
    [-0, "0"],
    [[1e21, 1e-7, 0.1], "[1e+21,1e-7,0.1]"],
    ["\ud800 \u2028 \u0000 é", '"\\ud800 \u2028 \\u0000 é"'],
    // By code units: a character beyond the first plane sorts before U+FFFF.
    [{ "\uffff": 1, "\u{10000}": 2, "10": 3, "9": 4 }, '{"10":3,"9":4,"\u{10000}":2,"\uffff":1}'],
    [JSON.parse('{"__proto__":{"a":1}}') as Json, '{"__proto__":{"a":1}}'],
    [{}, "{}"],
    [[], "[]"],
  ] as const)("of %j is %s", (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test.each([
    Number.NaN,
    Number.POSITIVE_INFINITY,
    [Number.NEGATIVE_INFINITY],
    { a: undefined },
    [undefined],
    // A sparse list.
    new Array(1),
    1n,
    () => 1,
  ])("does not exist for %s", (value) => {
    expect(() => canonicalJson(value as never)).toThrow(TypeError);
  });

  test("parses back as the value", () => {
    fc.assert(
      fc.property(json, (value) => {
        // JSON has one zero.
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 2000 },
    );
  });

  test("is the same for the same value, and well-formed", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(turned(value))).toBe(text);
        expect(canonicalJson(JSON.parse(text) as Json)).toBe(text);
        expect(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test("differs for different values", () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        const isSame = JSON.stringify(turned(turned(one))) === JSON.stringify(turned(turned(other)));
        if (canonicalJson(one) === canonicalJson(other))
          expect(JSON.parse(JSON.stringify(one))).toEqual(JSON.parse(JSON.stringify(other)));
        else expect(isSame).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("canonical JSON of a limited length", () => {
  test("is the same text up to the limit, and nothing one character beyond it", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(canonicalWithin(value, text.length, 8)).toBe(text);
        expect(canonicalWithin(value, text.length - 1, 8)).toBeNull();
      }),
    );
  });

  test("is nothing for values nested too deep", () => {
    expect(canonicalWithin([[1]], 100, 2)).toBe("[[1]]");
    expect(canonicalWithin([[1]], 100, 1)).toBeNull();
    expect(canonicalWithin({ a: { b: 1 } }, 100, 1)).toBeNull();
    expect(canonicalWithin(1, 100, 0)).toBe("1");
  });

  test("does not serialize a value that is far too long", () => {
    const whole = "x".repeat(1_000_000);
    expect(canonicalWithin([whole, { [whole]: whole }], 64, 8)).toBeNull();
    expect(canonicalWithin({ [whole]: 1 }, 64, 8)).toBeNull();
  });

  test.each([[Number.NaN], [[undefined]], [{ a: undefined }]])("has no form for %j", (value) => {
    expect(() => canonicalWithin(value as unknown as Json, 100, 8)).toThrow(TypeError);
  });
});
