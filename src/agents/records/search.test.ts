import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { queryWords, queryWordsMax, RecordSearch, type RecordWords, rankOf } from "./search.ts";
import { wordsOf } from "./words.ts";

function words(title: string, tags = "", body = ""): RecordWords {
  return { title: wordsOf(title).list, tags: wordsOf(tags).list, body: wordsOf(body).list };
}

/** Searches a list of records. */
function searching(records: readonly RecordWords[]): { find(query: readonly string[]): readonly number[] } {
  return {
    find: (query) => {
      const search = new RecordSearch(query);
      for (const record of records) search.add(record);
      return search.found();
    },
  };
}

describe("every word of the query begins a word of the record", () => {
  const index = searching([
    words("Release notes", "git", "what changed since the last version"),
    words("Git", "tools", "commands we use"),
    words("Weather", "", "git is mentioned here, and notes too"),
    words("Straße", "", "日本語のメモ"),
  ]);
  it.each<readonly [string, readonly number[]]>([
    ["git", [1, 0, 2]],
    ["gi", [1, 0, 2]],
    ["git notes", [0, 2]],
    ["NOTES git", [0, 2]],
    ["gitx", []],
    ["strasse", [3]],
    ["本", [3]],
    ["本日", [3]],
    ["本x", []],
    ["version last", [0]],
  ])("%s", (question, found) => {
    const asked = queryWords(question);
    expect(asked.ok && index.find(asked.value)).toEqual(found);
  });

  test("title before tags before body, then whole words, then the order given", () => {
    const ranked = searching([
      words("x", "", "apple"),
      words("x", "apple"),
      words("apples"),
      words("apple"),
      words("x", "", "apple"),
    ]);
    expect(ranked.find(["apple"])).toEqual([3, 2, 1, 0, 4]);
  });
});

describe("a query has a limit", () => {
  const many = (count: number): string => Array.from({ length: count }, (_, at) => `w${at}`).join(" ");
  it.each([
    ["word", true],
    ["--", false],
    ["", false],
    [many(queryWordsMax), true],
    [many(queryWordsMax + 1), false],
    ["x".repeat(5000), false],
  ])("%#", (question, ok) => {
    expect(queryWords(question).ok).toBe(ok);
  });
});

/** The definition: every record, every word, every position. */
function naive(records: readonly RecordWords[], asked: readonly string[]): readonly number[] {
  const ranked = records.flatMap((record, number) => {
    const marks = asked.map((word) => {
      const has = (list: readonly string[]): boolean => list.some((one) => one.startsWith(word));
      const whole = [record.title, record.tags, record.body].some((list) => list.includes(word));
      return (has(record.title) ? 1 : 0) + (has(record.tags) ? 2 : 0) + (has(record.body) ? 4 : 0) + (whole ? 8 : 0);
    });
    return marks.every((mark) => mark > 0) ? [{ number, rank: rankOf(marks) }] : [];
  });
  return ranked.sort((a, b) => b.rank - a.rank || a.number - b.number).map(({ number }) => number);
}

test("a search finds what the definition says, in the same order", () => {
  const word = fc.oneof(
    fc.stringMatching(/^[ab]{1,4}$/),
    fc.constantFrom("straße", "STRASSE", "日本", "é", "e\u0301", "Ａ", "a-b", "\u{10400}x"),
  );
  const text = fc.array(word, { maxLength: 6 }).map((list) => list.join(" "));
  const record = fc.tuple(text, text, text).map(([title, tags, body]) => words(title, tags, body));
  const question = fc.array(word, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(record, { maxLength: 30 }), question, (records, list) => {
      const asked = queryWords(list.join(" "));
      if (!asked.ok) return;
      expect(searching(records).find(asked.value)).toEqual(naive(records, asked.value));
    }),
    { numRuns: 3000 },
  );
});
