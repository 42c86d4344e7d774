// Prose is wrapped at 100 columns. `UPDATE_DOCS=1 npx vitest run test/docs/wrap` wraps it again.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { markdownFiles, read } from "./markdown.ts";
import { longProseLines, wrapMarkdown } from "./wrap.ts";

/** Generated pages, and decisions, which are never edited. */
const LEFT_AS_WRITTEN = /^docs\/(decisions\/0|reference\/(verbs|codes|data|api)\.md$)/;
/** Not wrapped yet: this list only gets shorter. */
const NOT_YET = /^(ARCHITECTURE|CHANGELOG|bench\/README|docs\/reference\/changes|native\/PROTOCOL)\.md$/;
const files = markdownFiles(root).filter((file) => !LEFT_AS_WRITTEN.test(file) && !NOT_YET.test(file));

test.each(files)("%s has no line of prose beyond 100 columns", (file) => {
  const longLines = (): readonly string[] => longProseLines(read(root, file));
  if (process.env["UPDATE_DOCS"] !== undefined && longLines().length > 0)
    writeFileSync(join(root, file), wrapMarkdown(read(root, file)));
  expect(longLines()).toEqual([]);
});

test("a long line is found in prose, and not in code, tables or a word without a space", () => {
  const line = `${"word ".repeat(25)}end`;
  expect(longProseLines(`${line}\n\n- ${line}\n`)).toEqual([line, `- ${line}`]);
  expect(longProseLines(`| ${line} |\n\n\`\`\`\n${line}\n\`\`\`\n\n- ${"w".repeat(120)}\n`)).toEqual([]);
});

test("there are pages to check", () => {
  expect(files.length).toBeGreaterThan(20);
});

test("wrapping keeps every word in its order, and is idempotent", () => {
  for (const file of markdownFiles(root)) {
    const text = read(root, file);
    const wrapped = wrapMarkdown(text);
    const words = (page: string): readonly string[] => page.replace(/^\s*>\s?/gm, "").split(/\s+/);
    expect(words(wrapped), file).toEqual(words(text));
    expect(wrapMarkdown(wrapped), file).toBe(wrapped);
  }
});

const long = "word ".repeat(30).trim();
const [begin, end] = [long.slice(0, 99), long.slice(100)];

test.each([
  ["a paragraph", long, `${begin}\n${end}`],
  ["lines of one paragraph", "a\nb", "a b"],
  ["an item", `- ${long}`, `- ${long.slice(0, 94)}\n  ${long.slice(95)}`],
  ["items", "- a\n- b\n  c", "- a\n- b c"],
  ["a quotation", "> a\n> b", "> a b"],
  ["code", `\`\`\`\n${long}\n\`\`\``, `\`\`\`\n${long}\n\`\`\``],
  ["a table", `| ${long} |`, `| ${long} |`],
  ["a heading", `# ${long}`, `# ${long}`],
  ["frontmatter", `---\n${long}\nx: y\n---\na\nb`, `---\n${long}\nx: y\n---\na b`],
  ["a dash that would begin an item", `${begin} - a`, `${begin.slice(0, 94)}\n${begin.slice(95)} - a`],
])("%s", (_, text, wrapped) => {
  expect(wrapMarkdown(text)).toBe(wrapped);
});
