// Constrained arguments must exist, have the right type, and satisfy their rule; in a list, every element.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../base/json.ts";
import type { Result } from "../../base/result.ts";
import { argumentsMatch, type Constraint, placeText, textMatches } from "./constraint.ts";
import { parseHostPattern } from "./destination.ts";
import { type PathSettings, parsePathPatterns } from "./path.ts";

const PATH_SETTINGS: PathSettings = { home: ["home", "u"], base: ["work"], protectedPaths: [["home", "u", ".ssh"]] };
const toAscii = (): null => null;

function good<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

const values: Constraint = { kind: "values", values: ["a", 1, true, null] };
const range: Constraint = { kind: "range", low: 1, high: 5 };
const short: Constraint = { kind: "max_length", length: 3 };
const text = (...patterns: readonly string[]): Constraint => ({
  kind: "text",
  patterns: patterns.map((one) => one.split("*")),
});
const path = (...patterns: readonly string[]): Constraint => ({
  kind: "path",
  patterns: patterns.flatMap((one) => good(parsePathPatterns(one, [], PATH_SETTINGS))),
  pathSettings: PATH_SETTINGS,
});
const url: Constraint = {
  kind: "url",
  hosts: {
    kind: "destinations",
    names: [good(parseHostPattern("*.x.com", toAscii))],
    ranges: [],
    everyPublic: false,
    openings: [],
  },
  toAscii,
};

function holds(constraint: Constraint, value: JsonObject, at: readonly string[] = ["q"], only = false): boolean {
  return argumentsMatch({ kind: "arguments", constrained: [{ at, constraint }], only }, { kind: "json", value });
}

describe("each kind of constraint", () => {
  test.each([
    ["values are compared without conversion", values, "a", "A"],
    ["a number is not its text", values, 1, "1"],
    ["true is not a word", values, true, "true"],
    ["null is a value, missing is not", values, null, 0],
    ["a range includes its low end", range, 1, 0.999],
    ["a range includes its high end", range, 5, 5.001],
    ["a range contains numbers only", range, 3, "3"],
    ["a length is at most the limit", short, "abc", "abcd"],
    ["only text has a length", short, "", 1],
    ["text without a star is itself", text("ab"), "ab", "abc"],
    ["a star is any text", text("a*"), "abc", "bc"],
    ["a star may be empty", text("a*"), "a", "A"],
    ["a star matches no slash", text("a*"), "ab", "a/b"],
    ["a star matches no backslash", text("a*"), "ab", "a\\b"],
    ["a star matches no line break", text("a*"), "ab", "a\nb"],
    ["a written slash is a slash", text("a/*"), "a/b", "a/b/c"],
    ["two dots are never matched", text("a/*"), "a/...", "a/.."],
    ["two dots are not assembled from one", text("a/.*"), "a/.b", "a/.."],
    ["text between stars comes in order", text("a*b*c"), "aXbXc", "aXcXb"],
    ["ends do not overlap", text("aa*aa"), "aaaa", "aaa"],
    ["a path is normalized before it is matched", path("/work/**"), "a/../b", "../b"],
    ["the tilde is expanded too", path("/home/u/**"), "~/a", "~a"],
    ["a protected path needs its name here too", path("/home/u/**"), "/home/u/.ss/k", "/home/u/.ssh/k"],
    ["a URL is matched by its host", url, "https://a.x.com/p", "https://a.y.com/p"],
    ["a URL has no user name", url, "https://x.com/", "https://x.com@y.com/"],
    ["text that looks like a host is not a URL", url, "https://x.com", "x.com"],
  ])("%s", (_rule, constraint, allowed, denied) => {
    expect(holds(constraint, { q: allowed })).toBe(true);
    expect(holds(constraint, { q: denied })).toBe(false);
  });
});

describe("where the argument is", () => {
  test.each([
    ["it must exist", { q: 1 }, { r: 1 }],
    ["in a list every element must satisfy the rule", { q: [1, 5] }, { q: [1, 6] }],
    ["an empty list satisfies nothing", { q: [1] }, { q: [] }],
    ["lists in lists too", { q: [[1], [2]] }, { q: [[1], [6]] }],
    ["an object is not a value", { q: 1 }, { q: { q: 1 } }],
  ] as const)("%s", (_rule, allowed, denied) => {
    expect(holds(range, allowed)).toBe(true);
    expect(holds(range, denied)).toBe(false);
  });

  test.each([
    ["inside an object", { a: { b: 1 } }, { a: { c: 1 } }],
    ["inside each object of a list", { a: [{ b: 1 }, { b: 2 }] }, { a: [{ b: 1 }, { c: 2 }] }],
    ["a text has no members", { a: { b: 1 } }, { a: "b" }],
    ["a key with a dot is another key", { a: { b: 1 } }, { "a.b": 1 }],
  ] as const)("%s", (_rule, allowed, denied) => {
    expect(holds(range, allowed, ["a", "b"])).toBe(true);
    expect(holds(range, denied, ["a", "b"])).toBe(false);
  });

  test("unnamed arguments are refused only if the grant says so", () => {
    expect(holds(range, { q: 1, r: 1 })).toBe(true);
    expect(holds(range, { q: 1, r: 1 }, ["q"], true)).toBe(false);
    expect(holds(range, { q: 1 }, ["q"], true)).toBe(true);
  });

  test("inherited object keys do not count as present", () => {
    expect(holds({ kind: "values", values: [1] }, {}, ["__proto__"])).toBe(false);
    expect(holds({ kind: "values", values: [1] }, JSON.parse('{"__proto__":1}'), ["__proto__"])).toBe(true);
    expect(holds({ kind: "max_length", length: 999 }, {}, ["constructor", "name"])).toBe(false);
  });

  test("argument paths have one spelling each", () => {
    expect(placeText(["a", "b"])).toBe("a.b");
    expect(placeText(["a.b"])).toBe('"a.b"');
    expect(placeText(['a"b'])).not.toBe(placeText(['a\\"b']));
  });
});

test("a star may end where the next text begins again", () => {
  expect(textMatches(["", "/a", "/a"], "b/a/a")).toBe(true);
  expect(textMatches(["", "/a", "/a"], "b/a/b/a")).toBe(false);
});
