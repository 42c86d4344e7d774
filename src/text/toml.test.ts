import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sizeFor } from "../../test/house/long.ts";
import { depthMax, nodesMax, sourceCharactersMax, type TextTree } from "./read.ts";
import { hostile, inTime, repeatedTexts } from "./testing/hostile.ts";
import { checkRead, isOneAway, shape } from "./testing/text.ts";
import { readToml } from "./toml.ts";

function read(text: string): TextTree {
  const source = { name: "test.toml", text };
  const result = readToml(source);
  checkRead(result, source);
  return result;
}

function complaint(text: string): string {
  const { diagnostics } = read(text);
  return diagnostics
    .map((one) => `${one.code} ${text.slice(one.span.start, one.span.end).slice(0, 40)} | ${one.message}`)
    .join("\n");
}

describe("TOML is parsed as TOML 1.0, and one character away it is refused", () => {
  const rows: readonly (readonly [rule: string, text: string, tree: string, refused: string, why: RegExp])[] = [
    ["nothing is an empty table", "", "{}", "=", /./],
    ["keys are unique", "a = 1\nb = 2", '{"a":1,"b":2}', "a = 1\na = 2", /multiple|repeated/],
    ["keys that look alike are two", '"а" = 1\n"a" = 2', '{"а":1,"a":2}', '"a" = 1\n"a" = 2', /multiple|repeated/],
    ["quotes do not make a key different", '"b" = 1\na = 2', '{"b":1,"a":2}', '"a" = 1\na = 2', /multiple|repeated/],
    [
      "__proto__ is a key",
      "__proto__ = 1\n__proto_ = 2",
      '{"__proto__":1,"__proto_":2}',
      "__proto__ = 1\n__proto__ = 2",
      /multiple|repeated/,
    ],
    ["tables are unique", "[a]\n[b]", '{"a":{},"b":{}}', "[a]\n[a]", /multiple|repeated/],
    [
      "tables are nested",
      "[a.b]\nc = 1\n[a]\nd = 2",
      '{"a":{"b":{"c":1},"d":2}}',
      "[a.b]\nc = 1\n[a]\nb = 2",
      /multiple|repeated/,
    ],
    ["dotted names are tables", "a.b = 1\na.c = 2", '{"a":{"b":1,"c":2}}', "a.b = 1\na.b = 2", /multiple|repeated/],
    [
      "dotted names do not reach into a header's table",
      "[a.b.c]\n[a]\nd.e = 1",
      '{"a":{"b":{"c":{}},"d":{"e":1}}}',
      "[a.b.c]\n[a]\nb.e = 1",
      /is repeated/,
    ],
    ["a value is not a table", "b = 1\na.b = 2", '{"b":1,"a":{"b":2}}', "a = 1\na.b = 2", /multiple|repeated/],
    [
      "an inline table is closed",
      "a = {b = 1}\nc.c = 2",
      '{"a":{"b":1},"c":{"c":2}}',
      "a = {b = 1}\na.c = 2",
      /multiple|repeated/,
    ],
    [
      "an inline table holds a key once",
      "a = {b = 1, c = 2}",
      '{"a":{"b":1,"c":2}}',
      "a = {b = 1, b = 2}",
      /multiple|repeated/,
    ],
    ["tables form a list", "[[a]]\nb = 1\n[[a]]\nb = 2", '{"a":[{"b":1},{"b":2}]}', "[[a]]\nb = 1\n[[a]\nb = 2", /./],
    ["a list is not a list of tables", "a = [1]\n[[b]]", '{"a":[1],"b":[{}]}', "a = [1]\n[[a]]", /multiple|repeated/],
    ["a name goes to the newest table", "[[a]]\n[[a]]\n[a.b]", '{"a":[{},{"b":{}}]}', "[[a]]\n[[a]]\n[a.b", /./],
    [
      "an integer has all its digits",
      "a = 9007199254740991",
      '{"a":9007199254740991}',
      "a = 9007199254740992",
      /losing digits/,
    ],
    ["in every base", "a = 0x1F_FFFF_FFFF_FFFF", '{"a":9007199254740991}', "a = 0x2F_FFFF_FFFF_FFFF", /losing digits/],
    [
      "a fraction has all its digits",
      "a = 0.30000000000000004",
      '{"a":0.30000000000000004}',
      "a = 0.30000000000000005",
      /losing digits/,
    ],
    ["underscores stand between digits", "a = 1_0", '{"a":10}', "a = 1__0", /[Uu]nderscore/],
    ["no leading zero", "a = 700", '{"a":700}', "a = 0700", /zero/],
    ["a number is finite", "a = 1\n#b = inf", '{"a":1}', "a = 1\nb = inf", /finite/],
    ["a date is text", "a = 1979-05-27", '{"a":"1979-05-27"}', "a = 1979-15-27", /date/],
    ["a time is text", "a = 1979-05-27T07:32:00Z", '{"a":"1979-05-27T07:32:00Z"}', "a = 1979-05-27T07:62:00Z", /time/],
    ["quotes are closed", 'a = "b"', '{"a":"b"}', 'a = "b', /./],
    ["an escape is not NUL", 'a = "\\u0001"', '{"a":"\\u0001"}', 'a = "\\u0000"', /NUL/],
    ["an escape is not a reserved character", 'a = "\\uE002"', '{"a":"\uE002"}', 'a = "\\uE001"', /reserved/],
    ["escapes of 1.1 are unknown", 'a = "\\f"', '{"a":"\\f"}', 'a = "\\e"', /escape/],
    ["an inline table ends without a comma", "a = {b = 1}", '{"a":{"b":1}}', "a = {b = 1,}", /comma/],
    ["a list may end with one", "a = [1,]", '{"a":[1]}', "a = [1,,]", /./],
    ["a byte order mark comes first", "\uFEFFa = 1", '{"a":1}', "\uFEFF\uFEFFa = 1", /byte order mark/],
    ["a carriage return is not alone", "# a\r\nb = 1", '{"b":1}', "# a\rb = 1", /carriage return/],
    ["a text contains no NUL", "a = 'b'", '{"a":"b"}', "a = 'b\0'", /NUL/],
  ];
  it.each(rows)("%s", (_rule, text, tree, refused, why) => {
    expect(shape(read(text).tree)).toBe(tree);
    expect(shape(read(refused).tree)).toBe("refused");
    expect(complaint(refused)).toMatch(why);
    expect(isOneAway(text, refused)).toBe(true);
  });
});

describe("every limit is exact to one character", () => {
  it("depth", () => {
    const lists = (depth: number): string => `a = ${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}`;
    const maps = (depth: number): string => `a = ${"{a = ".repeat(depth - 1)}1${"}".repeat(depth - 1)}`;
    const names = (depth: number): string => `${Array(depth).fill("a").join(".")} = 1`;
    const headers = (depth: number): string =>
      `[${Array(depth - 1)
        .fill("a")
        .join(".")}]`;
    for (const nested of [lists, maps, names, headers]) {
      expect(read(nested(depthMax)).tree).not.toBeNull();
      for (const depth of [depthMax + 1, 10_000])
        expect(complaint(nested(depth))).toMatch(/^too_large .*nested more than 64/);
    }
  });
  it("values", { timeout: 60_000 }, () => {
    expect(read(`a = [${"1,".repeat(nodesMax - 2)}]`).tree).not.toBeNull();
    expect(complaint(`a = [${"1,".repeat(nodesMax - 1)}]`)).toMatch(/^too_large 1 \| .*more than 100000 values/);
  });
  it("characters", () => {
    expect(read("#".repeat(sourceCharactersMax)).tree).not.toBeNull();
    expect(complaint("#".repeat(sourceCharactersMax + 1))).toMatch(/^too_large/);
    expect(complaint("[".repeat(10_000_000))).toMatch(/^too_large/);
  });
  it.each(['"', "'", '"""', "'''"])("characters of a string in %s", (quote) => {
    const text = (length: number): string => `a = ${quote}${"x".repeat(length - quote.length * 2)}${quote}`;
    expect(read(text(65_536)).tree).not.toBeNull();
    expect(complaint(text(65_537))).toMatch(/^too_large .*string is longer/);
  });
});

describe("expensive texts are parsed or refused in time", () => {
  const pieces = [
    "a=1\n",
    "[a]\n",
    "[[a]]\n",
    "a.",
    "[",
    "{",
    "a={",
    "a={a=",
    '"',
    "'",
    "''",
    "'''",
    '"""',
    '\\"',
    "1",
    "0x1",
    "_",
    "#\n",
    " ",
    "\n",
    "=",
    ",",
    "[],",
  ];
  it.each([
    ["very many keys", Array.from({ length: sizeFor(10_000, 70_000) }, (_, at) => `key${at}=1\n`).join("")] as const,
    ...repeatedTexts(pieces, sizeFor(80_000, 250_000)),
  ])("%s", (_title, text) => {
    inTime(() => read(text));
    inTime(() => read(`a = ${text}`));
    inTime(() => read(`a = [${text}`));
  });
});

const valid = [
  "[a]\nb = [1, 2.5, 'x', \"y\"]\n[a.c]\nd = { e = 1979-05-27, f.g = true }\n[[h]]\ni = 1\n[[h]]\n",
  'fs_read = ["src/**"]\nnet = []\n[exec]\nallow = ["git"] # only\n',
];

describe("for all texts", () => {
  it("parsing returns, and its diagnostics satisfy the invariant", () => {
    fc.assert(
      fc.property(hostile(valid), (text) => void read(text)),
      { numRuns: 1000 },
    );
  });
});
