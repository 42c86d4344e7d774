// Every link of the documentation leads to a file, and to a heading if it names one.
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { anchorsOf, linksOf, markdownFiles, read } from "./markdown.ts";

const files = markdownFiles(root);

function faultOf(file: string, target: string): string | null {
  if (/^[a-z]+:/i.test(target)) return /^https:\/\//.test(target) ? null : "not a https address";
  const [path = "", anchor] = target.split("#");
  const to = path === "" ? file : normalize(join(dirname(file), decodeURIComponent(path)));
  if (to.startsWith("..")) return "leads out of the repository";
  if (!existsSync(join(root, to))) return "there is no such file";
  if (anchor === undefined || !to.endsWith(".md")) return null;
  return anchorsOf(read(root, to)).has(anchor) ? null : "there is no such heading";
}

test("every link in a Markdown file resolves", () => {
  const links = files.flatMap((file) => linksOf(read(root, file)).map((link) => ({ file, ...link })));
  const broken = links.flatMap(({ file, line, target }) => {
    const fault = faultOf(file, target);
    return fault === null ? [] : [`${file}:${line} ${target}: ${fault}`];
  });
  expect(files.length).toBeGreaterThan(60);
  expect(links.length).toBeGreaterThan(60);
  expect(broken).toEqual([]);
});

test.each([
  ["README.md", "docs/limits.md", null],
  ["README.md", "docs/limitz.md", "there is no such file"],
  ["docs/limits.md", "#the-sandbox", null],
  ["docs/limits.md", "#the-sandbok", "there is no such heading"],
  ["docs/limits.md", "../../elsewhere.md", "leads out of the repository"],
  ["docs/limits.md", "http://example.com/", "not a https address"],
])("a broken link from %s to %s is detected", (file, target, fault) => {
  expect(faultOf(file, target)).toBe(fault);
});

test("code is not prose: links in it are not followed, headings in it do not count", () => {
  const page = "# A\n\n```sh\n# B\n[x](nowhere.md)\n```\n\n`[y](nowhere.md)` [z](there.md)\n";
  expect(linksOf(page)).toEqual([{ line: 8, target: "there.md" }]);
  expect([...anchorsOf(page)]).toEqual(["a"]);
});

test("every test that PROMISES.md names exists", () => {
  const named = [...read(root, "PROMISES.md").matchAll(/`((?:src|test|native|spec)\/[^`*\s]+)`/g)].map(
    ([, path]) => path ?? "",
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
