// `npm start` on a terminal: page by page, with a way out.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { ownFolder } from "../house/own-folder.ts";
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

test("without the native program it ends with the cause, the fix and a failing status", { timeout: 120_000 }, () => {
  const folder = ownFolder("ambit-unbuilt-");
  for (const name of ["bin", "examples"]) cpSync(join(root, name), join(folder, name), { recursive: true });
  mkdirSync(join(folder, "dist"));
  for (const name of ["native", "scripts", "node_modules", "package.json"])
    symlinkSync(join(root, name), join(folder, name));
  for (const name of readdirSync(join(root, "dist")).filter((one) => one !== "native"))
    symlinkSync(join(root, "dist", name), join(folder, "dist", name));
  const { status, stdout } = spawnSync(process.execPath, [join(folder, "examples", "tour.mjs")], {
    ...{ cwd: folder, encoding: "utf8", timeout: 100_000, env: { ...process.env, NO_COLOR: "1" } },
  });
  expect(status).toBe(1);
  expect(stdout).toContain("# this machine has no sandbox, so the tour can run no program\nrefused  not_available");
  expect(stdout).toMatch(/program_missing: .*\n.*\n.*fix: .*node scripts\/native\.mjs program/);
  expect(stdout).toMatch(/(\d+) of (?!\1)\d+ as expected\n/);
});
