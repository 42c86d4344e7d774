// No document says to fetch our package by its name from a registry: until the first release the name may become
// another person's package (decision 0156).
import { expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { markdownFiles, read } from "./markdown.ts";

/** Installing by name, or running with `npx` or its like without `--no-install`. */
const FETCHES =
  /\b(?:npm (?:install|i|add)|pnpm (?:add|dlx)|yarn (?:add|dlx)|bunx)(?: -[\w-]+(?:=\S+)?)* ambit(?:@\S+)?(?=\s|$|`)|\bnpx (?!--no-install\b)(?:-\S+ )*ambit\b/;

const pages = markdownFiles(root).filter((name) => !name.startsWith("docs/decisions/"));

test("no document fetches our package by name", () => {
  const found = [...pages, "action.yml", "deploy/Containerfile", "deploy/github-action.sh"].flatMap((page) =>
    read(root, page)
      .split("\n")
      .flatMap((line) => (FETCHES.test(line) ? [`${page}: ${line}`] : [])),
  );
  expect(pages.length).toBeGreaterThan(40);
  expect(found).toEqual([]);
});

test.each<[string, boolean]>([
  ["npm install -g ambit", true],
  ["npm i ambit@latest", true],
  ["npx ambit test", true],
  ["npx -y ambit test", true],
  ["pnpm add -D ambit", true],
  ["npx --no-install ambit test", false],
  ["npm install ./ambit-0.1.0.tgz", false],
  ["npm install -g @anthropic-ai/claude-code", false],
])("the check knows %s: %s", (line, isFetched) => {
  expect(FETCHES.test(line)).toBe(isFetched);
});
