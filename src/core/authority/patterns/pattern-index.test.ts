// The index finds what a plain loop over the patterns finds: no more, no less, whatever the names are.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LiteralPatterns } from "./literal-patterns.ts";
import { LiteralTable, PatternIndex, textKey } from "./literal-table.ts";
import { DEEP, literal, ONE, REST, type Segment, segmentOf } from "./segment.ts";
import { type Segments, type Sequence, segmentsOf, sequenceMatches } from "./sequence.ts";

function indexOf(patterns: readonly Sequence[]): PatternIndex {
  const index = new PatternIndex();
  for (const [grant, pattern] of patterns.entries()) index.add(pattern, grant);
  index.seal();
  return index;
}

function found(index: PatternIndex, value: Segments): readonly number[] {
  const count = index.find(value);
  return [...new Set(index.found.slice(0, count))].sort((left, right) => left - right);
}

function pattern(text: string): Sequence {
  return text.split("/").map(segmentOf);
}

function value(text: string): Segments {
  return segmentsOf(text.split("/"));
}

/** Names that differ at the ends of a list, which the key uses, and names that only differ elsewhere. */
const words: readonly string[] = ["a", "b", "ab", "", "a-long-name-of-a", "b-long-name-of-a", "é", "日本", "\u{1f600}"];
const word = fc.constantFrom(...words);
const anySegment: fc.Arbitrary<Segment> = fc.oneof(
  { weight: 6, arbitrary: word.map(literal) },
  { weight: 1, arbitrary: fc.constantFrom(ONE, DEEP, segmentOf("a*"), segmentOf("*-of-a")) },
);
const end: fc.Arbitrary<readonly Segment[]> = fc.constantFrom([], [], [ONE], [DEEP], [ONE, DEEP], [REST], [ONE, REST]);
const anyPattern: fc.Arbitrary<Sequence> = fc
  .tuple(fc.array(anySegment, { maxLength: 4 }), end)
  .map(([segments, last]) => [...segments, ...last]);
const anyValue: fc.Arbitrary<Segments> = fc
  .array(fc.tuple(word, fc.integer({ min: 0, max: 5 })), { maxLength: 6 })
  .map((parts) => {
    const guarded = parts.map(([, die]) => die === 0);
    return { segments: parts.map(([text]) => text), guarded: guarded.includes(true) ? guarded : null };
  });

describe("an index of patterns", () => {
  test("finds what a plain loop finds", () => {
    fc.assert(
      fc.property(
        fc.array(anyPattern, { maxLength: 80 }),
        fc.array(anyValue, { minLength: 1, maxLength: 20 }),
        (patterns, values) => {
          const index = indexOf(patterns);
          for (const one of values) {
            const expected = [...patterns.keys()].filter((at) => sequenceMatches(patterns[at] as Sequence, one));
            expect(found(index, one)).toEqual(expected);
          }
        },
      ),
      { numRuns: 1500 },
    );
  });

  test.each([
    ["an end", "x/a", "x/a", "x/a/b"],
    ["an exact end", "x/a", "x/a", "x"],
    ["a star", "x/*", "x/a", "x/a/b"],
    ["a star is not empty", "x/*", "x/a", "x"],
    ["a deep star", "x/**", "x", "y"],
    ["a deep star, further down", "x/**", "x/a/b", "xx/a/b"],
    ["one or more", "x/*/**", "x/a", "x"],
    ["nothing but a deep star", "**", "x/a/b", null],
  ])("%s", (_title, text, covered, other) => {
    for (const beside of [0, 3, 40]) {
      const index = indexOf([pattern(text), ...Array.from({ length: beside }, (_, at) => pattern(`z${at}/a/**`))]);
      expect(found(index, value(covered))).toEqual([0]);
      if (other !== null) expect(found(index, value(other))).toEqual([]);
    }
  });

  test("a star after the words matches no guarded segment, a whole program does", () => {
    const guarded = (text: string, at: number): Segments => {
      const { segments } = value(text);
      return { segments, guarded: segments.map((_, place) => place === at) };
    };
    const index = indexOf(
      [
        ["x", "*"],
        ["x", "**"],
        ["x", "*", "**"],
      ].map((texts) => texts.map(segmentOf)),
    );
    expect(found(index, guarded("x/a", 0))).toEqual([0, 1, 2]);
    expect(found(index, guarded("x/a", 1))).toEqual([]);
    expect(found(indexOf([[literal("x"), REST]]), guarded("x/a", 1))).toEqual([0]);
    expect(found(indexOf([[literal("x"), REST]]), guarded("y/a", 1))).toEqual([]);
  });

  test("many grants with the same words are all found", () => {
    const patterns = Array.from({ length: 3_000 }, (_, at) => pattern(at % 3 === 0 ? "x/a" : "x/a/**"));
    const index = indexOf([...patterns, pattern("x/b"), pattern("x/c"), pattern("x/d"), pattern("x/e")]);
    expect(found(index, value("x/a"))).toEqual([...patterns.keys()]);
    expect(found(index, value("x/a/b"))).toEqual([...patterns.keys()].filter((at) => at % 3 !== 0));
    expect(found(index, value("x/b"))).toEqual([patterns.length]);
    expect(found(index, value("x/f"))).toEqual([]);
  });

  test("patterns of more lengths than there are tables", () => {
    const deep = (size: number): string => Array.from({ length: size }, (_, at) => `s${at}`).join("/");
    const index = indexOf(Array.from({ length: 30 }, (_, at) => pattern(`${deep(at + 1)}/**`)));
    for (let size = 1; size <= 30; size++)
      expect(found(index, value(deep(size)))).toEqual(Array.from({ length: size }, (_, at) => at));
    expect(found(index, value("s1/s2"))).toEqual([]);
  });
});

describe("names chosen to collide", () => {
  /** Words with the same key, found by trying; only a few characters, so that the key uses all of them. */
  function collisions(): readonly (readonly [string, string])[] {
    const byKey = new Map<number, string>();
    const pairs: [string, string][] = [];
    for (let at = 0; at < 400_000; at++) {
      const text = (at * 31 + 60_466_176).toString(36);
      const key = textKey(text, text.length, 0);
      const other = byKey.get(key);
      if (other === undefined) byKey.set(key, text);
      else pairs.push([other, text]);
    }
    return pairs;
  }

  test("an equal key is not an equal name", () => {
    const pairs = collisions();
    expect(pairs.length).toBeGreaterThan(3);
    const beside = Array.from({ length: 20 }, (_, at) => pattern(`beside${at}`));
    for (const [one, other] of pairs) {
      expect(found(indexOf([pattern(one), ...beside]), value(other))).toEqual([]);
      const both = indexOf([pattern(one), pattern(other), ...beside]);
      expect(found(both, value(one))).toEqual([0]);
      expect(found(both, value(other))).toEqual([1]);
    }
  });

  test.each([
    ["in the characters a short key does not use", 30, 400],
    ["in those that no key uses", 300, 2_000],
  ])("names that differ only %s", (_title, tail, count) => {
    const name = (at: number): string => `${String(at).padStart(6, "0")}${"x".repeat(tail)}`;
    const index = indexOf(Array.from({ length: count }, (_, at) => pattern(`top/${name(at)}/**`)));
    for (let at = 0; at < count; at++) expect(found(index, value(`top/${name(at)}/file`))).toEqual([at]);
    expect(found(index, value(`top/${name(count)}/file`))).toEqual([]);
    expect(found(index, value(`top/${name(0)}x/file`))).toEqual([]);
    expect(found(index, value(`other/${name(0)}/file`))).toEqual([]);
  });

  test("a table accepts any number of ordinary names, and of colliding names no more than a lookup may compare", () => {
    const left = (name: (at: number) => string): number => {
      const all = new LiteralPatterns(1);
      for (let at = 0; at < 20_000; at++) all.add(pattern(name(at)), at << 3);
      return new LiteralTable(all).left.length;
    };
    expect(left((at) => `service-${at}`)).toBe(0);
    expect(left((at) => `${at}-service-${"x".repeat(40)}`)).toBe(0);
    expect(left((at) => `${String(at).padStart(6, "0")}${"x".repeat(300)}`)).toBe(20_000 - 64);
  });

  test("names of which no single one distinguishes the patterns", () => {
    const side = 60;
    const index = indexOf(
      Array.from({ length: side * side }, (_, at) => pattern(`team${Math.floor(at / side)}/part${at % side}/**`)),
    );
    for (let at = 0; at < side * side; at++)
      expect(found(index, value(`team${Math.floor(at / side)}/part${at % side}/file`))).toEqual([at]);
    expect(found(index, value(`team${side}/part0/file`))).toEqual([]);
    expect(found(index, value(`part0/team0/file`))).toEqual([]);
  });
});

describe("large and long", () => {
  test("each of 100,000 is found, and its neighbour by one character is not", () => {
    const count = 100_000;
    const name = (at: number): string => `com/example/region${at}/zone${at % 97}`;
    const index = indexOf(Array.from({ length: count }, (_, at) => pattern(`${name(at)}/**`)));
    for (let at = 0; at < count; at += 7) {
      const one = index.find(value(`${name(at)}/node`));
      if (one !== 1 || index.found[0] !== at) expect([at, one, index.found[0]]).toEqual([at, 1, at]);
      const other = index.find(value(`com/example/region${at}/zone${at % 97}x/node`));
      if (other !== 0) expect([at, other]).toEqual([at, 0]);
    }
    expect(found(index, value(`com/example/region${count}/zone${count % 97}/node`))).toEqual([]);
  });

  test("paths of 512 segments, words of 4,096 characters", () => {
    const long = Array.from({ length: 512 }, (_, at) => `s${at % 7}`);
    const wide = "w".repeat(4_095);
    const ends = Array.from({ length: 8 }, (_, at) => [...long.slice(1), `end${at}`].map(literal));
    const index = indexOf([long.map(literal), ...ends, [literal(`${wide}a`)], [literal(`${wide}b`), DEEP]]);
    expect(found(index, segmentsOf(long))).toEqual([0]);
    expect(found(index, segmentsOf([...long, "s1"]))).toEqual([]);
    expect(found(index, segmentsOf([...long.slice(1), "end7"]))).toEqual([8]);
    expect(found(index, segmentsOf([...long.slice(1), "end8"]))).toEqual([]);
    expect(found(index, segmentsOf([`${wide}a`]))).toEqual([9]);
    expect(found(index, segmentsOf([`${wide}b`, "below"]))).toEqual([10]);
    expect(found(index, segmentsOf([`${wide}c`]))).toEqual([]);
  });
});
