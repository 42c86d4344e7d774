// Checks the house rules over the real sources. planted.test.ts proves that each checker can find what it forbids.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { checkFolders, checkSmallFiles } from "./budgets.ts";
import { checkBrand, checkDirection, checkMint } from "./direction.ts";
import { checkLanguage } from "./language.ts";
import { checkPurity, platformGlobals } from "./purity.ts";
import { isPureRoom, roomNames } from "./rooms.ts";
import { checkFailures, checkIndex, checkLength, checkPurpose, linesWanted, longFiles } from "./shape.ts";
import { type Report, readSources, type Source } from "./source.ts";
import { checkWaits } from "./waits.ts";
import { checkWords } from "./words.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sources = readSources(root, ["src", "test", "bench"]);
const native = readSources(root, ["native", "test"], /\.[ch]$/);

const rules: readonly (readonly [string, (sources: readonly Source[]) => Report])[] = [
  ["every import points up the table of rooms", checkDirection],
  ["only the gate imports the mint", checkMint],
  ["only the mint and the recogniser import the brand", checkBrand],
  ["pure rooms use nothing but the language and each other", checkPurity],
  ["no file is too long", checkLength],
  ["every source file begins with its purpose", checkPurpose],
  ["there is no index file but the door", checkIndex],
  ["a failure with a message is spelled in one way", checkFailures],
  ["no folder holds more source files than its budget", checkFolders],
  ["no more small files with a single importer than the budget", (all) => checkSmallFiles(all)],
  ["no name we give is empty of meaning", checkWords],
  ["a test waits for a duration only with its reason", checkWaits],
  ["programs and processes are named by what they are", (all) => checkLanguage([...all, ...native])],
];

describe("tidy", () => {
  test("the sources were seen", () => {
    const paths = sources.map((source) => source.path);
    expect(paths).toContain("src/index.ts");
    expect(paths).toContain("src/main/compose.ts");
    expect(paths).toContain("test/tidy/tidy.test.ts");
    expect(native.map(({ path }) => path)).toContain("native/run.c");
    const long = longFiles(sources);
    if (long.length > 0) console.warn(`tidy: over ${linesWanted} lines: ${long.join(", ")}`);
  });

  test("the compiler and the linter treat the same rooms as pure as the table does", () => {
    const { include, exclude } = readJson("tsconfig.pure.json");
    const overrides: readonly { includes: readonly string[] }[] = readJson("biome.json").overrides;
    const linted = overrides.find(({ includes }) => includes.includes("src/index.ts"))?.includes ?? [];
    const isBelowPure = (room: string): boolean =>
      roomNames.some((one) => isPureRoom(one) && room.startsWith(`${one}/`));
    const isPure = (room: string): boolean => isPureRoom(room) && !isBelowPure(room);
    const pure = [
      ...new Set(roomNames.filter(isPure).map((room) => (room.startsWith("core/") ? "src/core" : `src/${room}`))),
    ];
    const impure = roomNames.filter((room) => !isPureRoom(room) && isBelowPure(room)).map((room) => `src/${room}`);
    expect(pure.length).toBeGreaterThan(5);
    expect(folders(include)).toEqual(folders([...pure]));
    expect(folders(exclude)).toEqual(folders([...impure, "**/*.test.ts", "**/testing"]));
    expect(folders(linted)).toEqual(
      folders([...pure, ...impure.map((path) => `!${path}`), "!**/*.test.ts", "!**/testing"]),
    );
  });

  test("the linter denies no global that the compiler declares for pure rooms", () => {
    expect(readJson("tsconfig.pure.json").files).toEqual(["types/pure-globals.d.ts"]);
    const overrides: readonly { linter: { rules: { style?: { noRestrictedGlobals?: { options: object } } } } }[] =
      readJson("biome.json").overrides;
    const denied = overrides.flatMap(({ linter }) =>
      Object.values(linter.rules.style?.noRestrictedGlobals?.options ?? {}).flatMap((names) => Object.keys(names)),
    );
    expect(denied).toContain("process");
    expect(platformGlobals).toContain("TextEncoder");
    expect(denied.filter((name) => platformGlobals.includes(name))).toEqual([]);
  });

  test.each(rules)("%s", (_rule, check) => {
    const { looked, findings } = check(sources);
    expect(looked).toBeGreaterThan(0);
    expect(findings.map(({ path, line, what }) => `${path}:${line} ${what}`)).toEqual([]);
  });
});

function folders(paths: readonly string[]): readonly string[] {
  return paths.map((path) => path.replace(/\/\*\*$/, "")).sort();
}

function readJson(path: string) {
  return ts.parseConfigFileTextToJson(path, readFileSync(join(root, path), "utf8")).config;
}
