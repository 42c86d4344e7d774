// A terminal of 80 columns: help, lists and cards fit, and what is cut is whole elsewhere.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { ownFolder } from "../house/own-folder.ts";
import { ambit, environment, root } from "./ambit.ts";

const columns = 80;
const project = ownFolder("ambit-narrow-");
const CONTROLS = new RegExp(`${String.fromCharCode(27)}\\[[?\\d;]*[A-Za-z]`, "g");
/** Longer than any line. */
const LONG = `notes/${"deep/".repeat(30)}a.md`;

beforeAll(() => {
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  const record = "---\nid: scout\nsandbox: .\ncapabilities:\n  - fs.write: { ask: true }\n---\n";
  writeFileSync(join(project, ".ambit", "agents", "scout.md"), record);
  expect(ambit(project, "trust", "--yes").status).toBe(0);
  expect(ambit(project, "call", "scout", "fs_write", JSON.stringify({ path: LONG, content: "x" })).status).not.toBe(0);
});

function lines(...words: readonly string[]): readonly string[] {
  const line = [process.execPath, join(root, "bin", "ambit"), ...words].map((word) => `'${word}'`).join(" ");
  const { stdout } = spawnSync("script", ["-qec", `stty cols ${columns} rows 24; ${line}`, "/dev/null"], {
    ...{ cwd: project, encoding: "utf8", timeout: 60_000, env: { ...environment, TERM: "xterm-256color" } },
  });
  return stdout.replaceAll(CONTROLS, "").replaceAll("\r", "").trimEnd().split("\n");
}

test.each([
  [["--help"], /^ {2}init {2,}detect the kind of project/],
  [["approvals", "list"], /pending {2}scout {2}fs_write {2}fs\.write .*\.\.\. {2}24 h left$/],
  [["log"], /deny approval_requi/],
  [["log", "--refused"], /^scout {2}approval_required {2}fs\.write .*…$/],
])("%j fits", (words, shown) => {
  const printed = lines(...words);
  expect(printed.filter((line) => line.length > columns)).toEqual([]);
  expect(printed.filter((line) => shown.test(line))).toHaveLength(1);
});

test("the first five commands of the help are those of a beginner, on the first screen", () => {
  const at = lines("--help").indexOf("Start here:");
  const names = lines("--help")
    .slice(at + 1, at + 9)
    .flatMap((line) => /^ {2}(\w+) /.exec(line)?.[1] ?? []);
  expect(names).toEqual(["init", "trust", "status", "can", "exec"]);
  expect(at + 9).toBeLessThan(24);
});

test("what a pipe gets is whole", () => {
  expect(ambit(project, "approvals", "list").out).toContain(LONG);
  expect(ambit(project, "log", "--refused").out).toContain(LONG);
});
