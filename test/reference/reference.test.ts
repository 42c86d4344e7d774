// The reference in docs/ is up to date with the source.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { VERSION } from "../../src/core/base/version.ts";
import { apiDoors } from "./api.ts";
import { apiPage, codesPage, dataPage, verbsPage } from "./reference.ts";

const pages: readonly (readonly [string, () => string])[] = [
  ["verbs.md", verbsPage],
  ["codes.md", codesPage],
  ["data.md", dataPage],
  ["api.md", apiPage],
];

for (const [name, write] of pages) {
  test(`docs/reference/${name} is up to date`, () => {
    const path = fileURLToPath(new URL(`../../docs/reference/${name}`, import.meta.url));
    if (process.env["UPDATE_REFERENCE"] !== undefined) writeFileSync(path, write());
    const written = readFileSync(path, "utf8");
    expect(written.length).toBeGreaterThan(500);
    expect(written).toBe(write());
  });
}

test("the package exports a number of names that a person can review", () => {
  const count = apiDoors().reduce((sum, { names }) => sum + names.length, 0);
  expect(count).toBeGreaterThan(30);
  expect(count).toBeLessThanOrEqual(66);
});

test("the program's version is the package's", () => {
  expect(VERSION).toBe(packageJson.version);
});
