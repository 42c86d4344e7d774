import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const own = join(root, "test", "house", "long.ts");

/** The files of tests, each with the files of this repository that it imports. */
const imports = new Map(
  ["src", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => {
        const path = join(root, folder, name);
        const found = readFileSync(path, "utf8").matchAll(/from "(\.[^"]+\.ts)"/g);
        return [path, [...found].map(([, to = ""]) => join(dirname(path), to))] as const;
      }),
  ),
);

/** Whether the size of a run is used by this file, itself or over a helper. */
function isSized(path: string, seen = new Set<string>()): boolean {
  if (path === own) return true;
  if (seen.has(path)) return false;
  seen.add(path);
  return (imports.get(path) ?? []).some((to) => isSized(to, seen));
}

const sized = [...imports.keys()].filter((path) => path.endsWith(".test.ts") && isSized(path));
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const selected: readonly string[] = scripts["test:long"].split("vitest run ")[1].split(" ");

test("every test with a large case is run by `npm run test:long`", () => {
  expect(sized.length).toBeGreaterThan(10);
  const missing = sized
    .map((path) => relative(root, path))
    .filter((path) => !selected.some((one) => path.includes(one)));
  expect(missing).toEqual([]);
});

test("each path of `npm run test:long` selects a test with a large case", () => {
  expect(selected.filter((one) => !sized.some((path) => relative(root, path).includes(one)))).toEqual([]);
});

test("the size of a run is read in one place", () => {
  const readers = [...imports.keys()].filter((path) => readFileSync(path, "utf8").includes('"AMBIT_LONG"'));
  expect(readers.map((path) => relative(root, path)).sort()).toEqual(["test/house/long.test.ts", "test/house/long.ts"]);
});
