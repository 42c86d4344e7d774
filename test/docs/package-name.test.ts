// No document says to fetch our package by its name from a registry: until the first release the name may become
// another person's package (decision 0156).
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { markdownFiles, read } from "./markdown.ts";

/** Installing or looking for it by name, or running with `npx` or its like without `--no-install`. */
const FETCHES =
  /\b(?:npm (?:install|i|add|update|outdated|view)|pnpm (?:add|dlx)|yarn (?:add|dlx)|bunx)(?: -[\w-]+(?:=\S+)?)* ambit(?:@\S+)?(?=\s|$|`)|\bnpx (?!--no-install\b)(?:-\S+ )*ambit\b/;

const pages = markdownFiles(root).filter((name) => !name.startsWith("docs/decisions/"));
/** Help and messages are documents, too. */
const sources = ["src", "examples"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|mjs)$/.test(name))
    .map((name) => join(folder, name)),
);

test("no document, help or message fetches our package by name", () => {
  expect(sources.length).toBeGreaterThan(400);
  const others = ["action.yml", "deploy/Containerfile", "deploy/github-action.sh"];
  const found = [...pages, ...sources, ...others].flatMap((page) =>
    read(root, page)
      .split("\n")
      .flatMap((line) => (FETCHES.test(line) ? [`${page}: ${line}`] : [])),
  );
  expect(pages.length).toBeGreaterThan(40);
  expect(found).toEqual([]);
});

test("npm refuses to publish it before it has a public address", () => {
  const manifest = JSON.parse(read(root, "package.json")) as Readonly<Record<string, unknown>>;
  const missing = ["repository", "homepage", "bugs"].filter((field) => manifest[field] === undefined);
  expect([manifest["private"], missing]).toEqual([true, ["repository", "homepage", "bugs"]]);
});

test.each<[string, boolean]>([
  ["npm install -g ambit", true],
  ["npm i ambit@latest", true],
  ["npm outdated -g ambit", true],
  ["npx ambit test", true],
  ["npx -y ambit test", true],
  ["pnpm add -D ambit", true],
  ["npx --no-install ambit test", false],
  ["npm install ./ambit-0.1.0.tgz", false],
  ["npm install -g @anthropic-ai/claude-code", false],
])("the check knows %s: %s", (line, isFetched) => {
  expect(FETCHES.test(line)).toBe(isFetched);
});
