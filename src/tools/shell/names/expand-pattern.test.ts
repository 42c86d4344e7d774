// The expansion of patterns: how much work it does, when it yields, and when it ends.
import { describe, expect, test } from "vitest";
import type { FileEntry } from "../../../core/ports/files.ts";
import { chosenNamesMax, folderNamesMax, listedNameSteps, namesPerTurn, namingStepsMax } from "../language/limits.ts";
import type { Word } from "../language/script.ts";
import { type ExpansionResult, expandPattern, type ListFolder } from "./expand-pattern.ts";
import { namePattern } from "./file-names.ts";
import { PatternSearch } from "./pattern-search.ts";

const word = (text: string): Word => ({ parts: [{ kind: "plain", text }], range: { start: 0, end: text.length } });

function folderOf(names: readonly string[]): ListFolder {
  const value = names.map((name): FileEntry => ({ path: ["p", name], kind: "file" }));
  return async () => ({ ok: true, value });
}

interface Watched {
  readonly chosen: ExpansionResult;
  readonly rests: number;
}

async function choose(pattern: string, look: ListFolder, stopAfterRests = Number.POSITIVE_INFINITY): Promise<Watched> {
  let rests = 0;
  const search = new PatternSearch({
    rest: async () => {
      rests++;
    },
    isStopped: () => rests >= stopAfterRests,
  });
  return { chosen: await expandPattern(word(pattern), ["p"], look, search), rests };
}

/** The cost of one name. */
function stepsOf(pattern: string, name: string): number {
  let all = 0;
  namePattern(pattern, (steps) => {
    all += steps;
  }).matches(name);
  return all;
}

describe("a name", () => {
  const long = "a".repeat(240);
  test.each([
    ["with one star is compared once from either end", `*${"a".repeat(120)}b`],
    ["and however its ends fit", `${"a".repeat(100)}*${"a".repeat(100)}`],
  ])("%s", (_title, pattern) => {
    expect(stepsOf(pattern, long)).toBeLessThanOrEqual(1 + 15 + pattern.length);
  });
  test("shorter than its fixed parts is not compared", () => {
    expect(stepsOf("*abc*def*", "abcde")).toBe(1);
  });
  test("costs its comparisons, members of brackets included", () => {
    const pattern = `*${"a".repeat(60)}b*`;
    expect(stepsOf(pattern, long)).toBeGreaterThan(10_000);
    expect(stepsOf(`*[${"b".repeat(100)}]*`, long)).toBeGreaterThan(20_000);
  });
});

describe("the search", () => {
  const names = Array.from({ length: 4000 }, (_, at) => `${"a".repeat(200)}${at}`);

  test("ends when it compares too much, and says so", async () => {
    const { chosen } = await choose(`*${"a".repeat(60)}b*`, folderOf(names));
    expect(chosen).toMatchObject({ ok: false, code: "too_long", message: expect.stringMatching(/too many files/) });
    expect(await choose(`*${"a".repeat(60)}b`, folderOf(names))).toMatchObject({ chosen: { ok: true } });
  });
  test("counts the comparisons of all patterns of a script together", async () => {
    const search = new PatternSearch({ rest: async () => undefined, isStopped: () => false });
    search.count(namingStepsMax);
    expect(search.over()).toBeNull();
    expect(await expandPattern(word("*b"), ["p"], folderOf(["a", "b"]), search)).toMatchObject({ code: "too_long" });
  });
  test("accepts one folder of the maximum number of names", async () => {
    const most = Array.from({ length: folderNamesMax }, (_, at) => `some-file-name-${at}.txt`);
    const { chosen } = await choose("*name*0*000*", folderOf(most));
    expect(chosen).toMatchObject({ ok: true });
  });
  test("yields to the event loop", async () => {
    const { rests } = await choose("*b", folderOf(names));
    expect(rests).toBe(Math.floor(names.length / namesPerTurn));
  });
  test("ends when it is cancelled", async () => {
    const { chosen, rests } = await choose("*b", folderOf(names), 2);
    expect(chosen).toMatchObject({ ok: false, message: "the call was stopped" });
    expect(rests).toBe(2);
  });
  test("lists no folder when it is cancelled", async () => {
    let looks = 0;
    const { chosen } = await choose(
      "*b",
      async () => {
        looks++;
        return { ok: true, value: [] };
      },
      0,
    );
    expect([looks, chosen.ok]).toEqual([0, false]);
  });
  test("lists a folder once for consecutive patterns, and counts its cost", async () => {
    const search = new PatternSearch({ rest: async () => undefined, isStopped: () => false });
    let lists = 0;
    const list = async (): ReturnType<ListFolder> => {
      lists++;
      return folderOf(["a", "b"])([], 1);
    };
    for (let time = 0; time < 3; time++) expect(await search.listed(["p", "q"], list)).toMatchObject({ ok: true });
    expect(lists).toBe(1);
    for (const other of ["1", "2", "3", "4"]) await search.listed([other], list);
    await search.listed(["p", "q"], list);
    expect(lists).toBe(6);
    search.count(namingStepsMax - 6 * 2 * listedNameSteps);
    expect(search.over()).toBeNull();
    await search.listed(["new"], list);
    expect(search.over()).toMatch(/too many files/);
  });
  test("keeps no more names than the limit of a script", async () => {
    const many = Array.from({ length: chosenNamesMax + 1 }, (_, at) => `f${at}`);
    expect((await choose("f*", folderOf(many))).chosen).toMatchObject({ ok: false, code: "too_long" });
    expect((await choose("f*", folderOf(many.slice(1)))).chosen).toMatchObject({ ok: true });
  });
  test("sorts by code points", async () => {
    const { chosen } = await choose("?*", folderOf(["b", "\u{1f600}", "\uffee", "a", "ab"]));
    expect(chosen).toEqual({ ok: true, words: ["a", "ab", "b", "\uffee", "\u{1f600}"] });
  });
});
