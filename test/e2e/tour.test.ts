// `npm start` on a terminal: page by page, with a way out.
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { root } from "./ambit.ts";
import { onTerminal } from "./terminal.ts";
import { Tmux } from "./tmux.ts";

let terminal: Tmux | null = null;
afterEach(() => {
  terminal?.end();
  terminal = null;
});

test("the tour waits at the end of each page, and ends when it is told to", async () => {
  terminal = new Tmux(80, 24, root, { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/" });
  terminal.line(`${process.execPath} ${join("examples", "tour.mjs")}; echo status $?`);
  await terminal.until(/reviewed yet.*-- Enter: next page {3}a: all the rest {3}q: end --/s);
  terminal.send("Enter");
  await terminal.until(/looks, and trusts it.*-- Enter: next page/s);
  terminal.type("q");
  const end = await terminal.until(/^status \d/m);
  expect(end).toMatch(/(\d+) of \1 as expected; you ended the tour early/);
  expect(end).toContain("status 0");
});

test("many pages are shown one after the other, without a warning", async () => {
  const pages = 13;
  const program = `import { Pages } from ${JSON.stringify(join(root, "examples", "tour-pages.mjs"))};
const pages = new Pages([]);
for (let at = 1; at <= ${pages}; at++) await pages.show(\`page \${at}\\n\${"line\\n".repeat(36)}\`);
console.log("the end");`;
  const answers = Array.from({ length: pages - 1 }, (): [string, string] => ["q: end --", "\r"]);
  const words = [process.execPath, "--input-type=module", "--eval", program];
  const { status, raw } = await onTerminal(root, words, answers, {});
  expect([status, raw.match(/page \d+/g)?.length, raw.includes("Warning")]).toEqual([0, pages, false]);
  expect(raw).toContain("the end");
});
