// Holds the house's rules over the real sources. That each checker can see what it forbids is proved in planted.test.ts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { checkBrand, checkDirection, checkMint } from "./direction.ts";
import { checkPurity, platformGlobals } from "./purity.ts";
import { pureRooms } from "./rooms.ts";
import { checkIndex, checkLength, checkPurpose, linesWanted, longFiles } from "./shape.ts";
import { type Report, readSources, type Source } from "./source.ts";
import { checkWords } from "./words.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sources = readSources(root, ["src", "test", "bench"]);

const rules: readonly (readonly [string, (sources: readonly Source[]) => Report])[] = [
  ["every import points up the table of rooms", checkDirection],
  ["only the gate imports the mint", checkMint],
  ["only the mint and the recogniser import the brand", checkBrand],
  ["pure rooms use nothing but the language and each other", checkPurity],
  ["no file is too long", checkLength],
  ["every source file begins with its purpose", checkPurpose],
  ["there is no index file but the door", checkIndex],
  ["no name we give holds a banned word", checkWords],
];

describe("tidy", () => {
  test("the sources were seen", () => {
    const paths = sources.map((source) => source.path);
    expect(paths).toContain("src/index.ts");
    expect(paths).toContain("src/main/compose.ts");
    expect(paths).toContain("test/tidy/tidy.test.ts");
    const long = longFiles(sources);
    if (long.length > 0) console.warn(`tidy: over ${linesWanted} lines: ${long.join(", ")}`);
  });

  test("the compiler and the linter hold the same rooms pure as the table", () => {
    const compiled: readonly string[] = readJson("tsconfig.pure.json").include;
    const overrides: readonly { includes: readonly string[] }[] = readJson("biome.json").overrides;
    const linted = overrides.find(({ includes }) => includes.includes("src/index.ts"))?.includes ?? [];
    const pure = [...pureRooms].map((room) => `src/${room}`).sort();
    expect([...compiled].sort()).toEqual(pure);
    expect(
      linted
        .filter((path) => !path.startsWith("!"))
        .map((path) => path.replace("/**", ""))
        .sort(),
    ).toEqual(pure);
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

function readJson(path: string) {
  return ts.parseConfigFileTextToJson(path, readFileSync(join(root, path), "utf8")).config;
}
