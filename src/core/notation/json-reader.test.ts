import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson } from "./json-reader.ts";

describe("JSON is parsed unchanged", () => {
  test("plain JSON parses as with the platform's own parser", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        const read = parseJson(text);
        if (read.ok) expect(JSON.stringify(read.value)).toBe(text);
        else expect(/too large|unpaired surrogate/.test(read.message)).toBe(true);
      }),
    );
  });
  test.each([
    '{"a": 1}',
    ' [1, -2.5e3, "x", null, true, false] ',
    '"\\u00e9\\n"',
    "0",
    "9007199254740991",
    "1e-400",
    '{"__proto__": {"x": 1}}',
    '{"a":"b:c","d":"::"}',
    '[{"a":1},{"a":1},":"]',
    '{"a:b":1,"c":2}',
    '{"a\\\\":1,"b":"\\\\"}',
    '{"a":"\\\\\\":","b":1}',
  ])("%s", (text) => {
    expect(parseJson(text)).toMatchObject({ ok: true });
  });
  test("parsed values are frozen and inherit nothing", () => {
    const read = parseJson('{"__proto__": {"x": 1}, "list": [{}]}');
    if (!read.ok) throw new Error(read.message);
    const object = read.value as Readonly<Record<string, unknown>>;
    expect(Object.getPrototypeOf(object)).toBe(null);
    expect(Object.keys(object)).toEqual(["__proto__", "list"]);
    expect("x" in object).toBe(false);
    expect(
      Object.isFrozen(object) && Object.isFrozen(object["list"]) && Object.isFrozen((object["list"] as unknown[])[0]),
    ).toBe(true);
  });
});

describe("ambiguous text is refused", () => {
  test.each([
    ["a key twice", '{"a":1,"a":2}'],
    ["a key twice, spelled differently", '{"a":1,"\\u0061":2}'],
    ["a key twice, deep", '{"a":{"b":1,"b":1}}'],
    ["a key twice, beside a colon in a string", '{"a":":","a":2}'],
    ["a key twice, with a quote in it", '{"a\\"":1,"a\\"":1}'],
    ["an empty key twice", '{"":1,"":1}'],
    ["`__proto__` twice", '{"__proto__":1,"__proto__":2}'],
    ["a whole number that loses digits", "9007199254740993"],
    ["the first number that may lose digits", "9007199254740992"],
    ["a large number in another spelling", "1e17"],
    ["an infinite number", "1e999"],
    ["half a character", '"\\ud800"'],
    ["half a character, as it stands", '"\ud800"'],
    ["NUL", '"\\u0000"'],
    ["a reserved character", '"\\ue000"'],
    ["a reserved character in a key", '{"\ue001":1}'],
    ["a control character", '"\n"'],
    ["an extra comma", "[1,]"],
    ["a missing comma", "[1 2]"],
    ["a leading zero", "01"],
    ["a leading plus", "+1"],
    ["a bare decimal point", "1."],
    ["not a number", "NaN"],
    ["a comment", "1 // x"],
    ["single quotes", "{'a':1}"],
    ["a bare key", "{a:1}"],
    ["two documents", "1 2"],
    ["nothing", ""],
    ["an unclosed string", '"abc'],
    ["an unclosed string with a backslash at its end", '"abc\\'],
    ["an unclosed object", '{"a":'],
    ["a byte order mark", "\ufeff1"],
    ["another kind of space", "\u00a01"],
  ])("%s", (_, text) => {
    expect(parseJson(text)).toMatchObject({ ok: false });
  });
  test("depth and length have limits", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    expect(parseJson(nested(64)).ok).toBe(true);
    expect(parseJson(nested(66))).toMatchObject({ code: "too_long" });
    expect(parseJson("[".repeat(10_000))).toMatchObject({ code: "too_long" });
    expect(parseJson('{"a":'.repeat(10_000))).toMatchObject({ code: "too_long" });
    expect(parseJson(`"${"\\n".repeat(500_000)}"`).ok).toBe(true);
    expect(parseJson(" ".repeat(1_048_577))).toMatchObject({ code: "too_long" });
  });
  test("a scalar counts as a level of its own", () => {
    const nested = (depth: number): string => `${"[".repeat(depth)}1${"]".repeat(depth)}`;
    expect(parseJson(nested(64)).ok).toBe(true);
    expect(parseJson(nested(65))).toMatchObject({ code: "too_long" });
  });
  test("a duplicate key anywhere is refused", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 }), (value) => {
        const [key = ""] = Object.keys(value);
        const text = `[${JSON.stringify(value).slice(0, -1)},${JSON.stringify(key)}:1}]`;
        expect(parseJson(text).ok).toBe(false);
      }),
    );
  });
  test("random text never throws", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => parseJson(text).ok || true));
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("{", "}", "[", "]", '"', ":", ",", "\\", "u", "1", "e", "-", ".", " ") }),
        (text) => parseJson(text).ok || true,
      ),
    );
  });
});
