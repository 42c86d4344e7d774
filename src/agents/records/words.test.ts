import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { isPlainText } from "../../core/authority/patterns/reserved.ts";
import { fold, wordCharactersMax, wordsOf, wordsPerRecordMax } from "./words.ts";

describe("words are letters, digits and their marks", () => {
  it.each([
    ["Hello, World", ["hello", "world"]],
    ["proc_exec and fs.read", ["and", "exec", "fs", "proc", "read"]],
    ["don't 3.14", ["14", "3", "don", "t"]],
    ["STRASSE straße Straße", ["strasse"]],
    ["ΟΔΟΣ οδος οδοσ", ["οδοσ"]],
    ["ﬁle ＦＩＬＥ file", ["file"]],
    ["cafe\u0301 café CAFÉ", ["café"]],
    ["résumé resume", ["resume", "résumé"]],
    ["日本語 text", ["text", "日", "本", "語"]],
    ["абв АБВ", ["абв"]],
    ["-- !! ()", []],
    ["", []],
  ])("%j", (text, words) => {
    expect(wordsOf(text).list).toEqual([...words].sort());
  });
});

test("a long run of letters is found by its beginning, and never by half a character", () => {
  expect(wordsOf("x".repeat(1000)).list).toEqual(["x".repeat(wordCharactersMax)]);
  const [word] = wordsOf(`x${"𝒳x𐐀".repeat(50)}`).list;
  expect(isPlainText(word ?? "")).toBe(true);
});

test("at the limit one more word is reported missing", () => {
  const text = (count: number): string => Array.from({ length: count }, (_, at) => `w${at}`).join(" ");
  expect(wordsOf(text(wordsPerRecordMax)).cut).toBe(false);
  expect(wordsOf(text(wordsPerRecordMax + 1))).toMatchObject({ cut: true });
  expect(wordsOf(text(wordsPerRecordMax + 1)).list).toHaveLength(wordsPerRecordMax);
});

test("folding is idempotent", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => fold(fold(text)) === fold(text)),
    { numRuns: 400 },
  );
});
