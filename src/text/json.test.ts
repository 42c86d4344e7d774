import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sizeFor } from "../../test/house/long.ts";
import { readJson } from "./json.ts";
import { depthMax, nodesMax, sourceCharactersMax, type TextTree } from "./read.ts";
import { hostile, inTime, repeatedTexts } from "./testing/hostile.ts";
import { checkRead, isOneAway, shape } from "./testing/text.ts";

function read(text: string): TextTree {
  const source = { name: "test.json", text };
  const result = readJson(source);
  checkRead(result, source);
  return result;
}

function complaint(text: string): string {
  const { diagnostics } = read(text);
  return diagnostics
    .map((one) => `${one.code} ${text.slice(one.span.start, one.span.end).slice(0, 40)} | ${one.message}`)
    .join("\n");
}

describe("JSON is parsed as RFC 8259 says, and one character away it is refused", () => {
  const rows: readonly (readonly [rule: string, text: string, tree: string, refused: string, why: RegExp])[] = [
    ["keys are unique", '{"a":1,"b":2}', '{"a":1,"b":2}', '{"a":1,"a":2}', /is repeated/],
    [
      "an escape does not make a key different",
      '{"\\u0062":1,"a":2}',
      '{"b":1,"a":2}',
      '{"\\u0061":1,"a":2}',
      /is repeated/,
    ],
    ["keys that look alike are two", '{"а":1,"a":2}', '{"а":1,"a":2}', '{"a":1,"a":2}', /is repeated/],
    [
      "__proto__ is a key",
      '{"__proto__":1,"__proto_":2}',
      '{"__proto__":1,"__proto_":2}',
      '{"__proto__":1,"__proto__":2}',
      /is repeated/,
    ],
    ["no comma after the last value", "[1]", "[1]", "[1,]", /value expected/],
    ["no comma after the last entry", '{"a":1}', '{"a":1}', '{"a":1,}', /expected/],
    ["no comment", "[1]", "[1]", "[1#]", /not JSON/],
    ["text in double quotes", '"a"', '"a"', '"a', /is not closed/],
    ["one value", "1 ", "1", "1 1", /end of file expected/],
    ["a value is required", "1", "1", "", /value expected/],
    ["no leading zero", "10", "10", "010", /./],
    ["no bare decimal point", "1.5", "1.5", "1.", /./],
    ["no plus", "-1", "-1", "+1", /not JSON/],
    ["literals in lower case", "true", "true", "True", /not JSON/],
    ["an integer has all its digits", "9007199254740991", "9007199254740991", "9007199254740992", /losing digits/],
    ["also below zero", "-9007199254740991", "-9007199254740991", "-9007199254740992", /losing digits/],
    ["a number is finite", "1e9", "1000000000", "1e99", /losing digits/],
    ["minus zero is zero", "-0", "0", "-", /not JSON/],
    ["a control character is escaped", '"a b"', '"a b"', '"a\nb"', /is not closed on its line/],
    ["an escape is not NUL", '"\\u0001"', '"\\u0001"', '"\\u0000"', /NUL/],
    ["an escape is not a reserved character", '"\\uE002"', '"\uE002"', '"\\uE001"', /reserved/],
    ["an escape is not half a surrogate pair", '"\\uD83D\\uDE00"', '"😀"', '"\\uD83D\\uCE00"', /unpaired surrogate/],
    ["a text contains no reserved character", '"\uE002"', '"\uE002"', '"\uE001"', /reserved/],
    ["a text contains no half surrogate pair", '"😀"', '"😀"', '"\uD83D"', /unpaired surrogate/],
    ["a byte order mark comes first", "\uFEFF1", "1", "\uFEFF\uFEFF1", /not JSON/],
    ["there are four space characters", "[ 1]", "[1]", "[\u00A01]", /not JSON/],
  ];
  it.each(rows)("%s", (_rule, text, tree, refused, why) => {
    expect(shape(read(text).tree)).toBe(tree);
    expect(shape(read(refused).tree)).toBe("refused");
    expect(complaint(refused)).toMatch(why);
  });
  it.each(rows)("%s: one character away", (_rule, text, _tree, refused) => {
    expect(isOneAway(text, refused)).toBe(true);
  });
  it.each(["/* a */ 1", "1 // a", "[1, /**/ 2]"])("no comment: %s", (text) => {
    expect(complaint(text)).toMatch(/JSON has no comments/);
  });
});

describe("every limit is exact to one character", () => {
  it("depth", () => {
    const lists = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    const maps = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    for (const nested of [lists, maps]) {
      expect(read(nested(depthMax)).tree).not.toBeNull();
      for (const depth of [depthMax + 1, 10_000, 100_000])
        expect(complaint(nested(depth))).toMatch(/^too_large [[{] \| lists and maps are nested/);
    }
  });
  it("values", () => {
    expect(read(`[${"1,".repeat(nodesMax - 2)}1]`).tree).not.toBeNull();
    expect(complaint(`[${"1,".repeat(nodesMax - 1)}1]`)).toMatch(/^too_large 1 \| .*more than 100000 values/);
  });
  it("characters", () => {
    expect(read(`"${"a".repeat(sourceCharactersMax - 2)}"`).tree).not.toBeNull();
    expect(complaint(`"${"a".repeat(sourceCharactersMax - 1)}"`)).toMatch(/^too_large/);
    expect(complaint("[".repeat(10_000_000))).toMatch(/^too_large/);
  });
});

describe("expensive texts are parsed or refused in time", () => {
  it.each(
    repeatedTexts(
      ["[", "]", "{", '{"a":', "1,", "[],", " ", "\n", '"', '\\"', '"",', "/", "//\n", "/*", "-", "1", "1e", "t", ","],
      sizeFor(80_000, 250_000),
    ),
  )("%s", (_title, text) => {
    inTime(() => read(text));
    inTime(() => read(`[${text}]`));
    inTime(() => read(`"${text}"`));
  });
});

const valid = ['{"a":[1,-2.5e3,"x\\u0041",true,null],"b":{"c":{}}}', '[{"name":"net.get","hosts":["*.github.com"]}]'];

describe("for all texts", () => {
  it("accepted texts parse as with JSON.parse; texts it accepts are accepted or refused with a reason", () => {
    fc.assert(
      fc.property(fc.oneof(hostile(valid), fc.json()), (text) => {
        const result = read(text);
        let value: unknown;
        try {
          value = JSON.parse(text.replace(/^\uFEFF/, ""));
        } catch {
          expect(result.tree).toBeNull();
          return;
        }
        if (result.tree !== null) expect(JSON.parse(shape(result.tree))).toEqual(JSON.parse(JSON.stringify(value)));
        else expect(result.diagnostics[0]?.message).toMatch(/is repeated|digits|NUL|reserved|surrogate|nested/);
      }),
      { numRuns: 1000 },
    );
  });
  it("every unambiguous JSON value is accepted", () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: "medium" }), (value) => {
        const text = JSON.stringify(value, null, 1);
        fc.pre(!/\\u0000|\\ud[89a-f]|[\uE000\uE001]|e\+|\d{16}/i.test(text));
        expect(JSON.parse(shape(read(text).tree))).toEqual(JSON.parse(text));
      }),
    );
  });
});
