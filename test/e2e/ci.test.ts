// The recipes of docs/ci.md and the action, in a fresh clone that is not trusted.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { recordText, writeFiles } from "../house/files.ts";
import { root } from "./ambit.ts";

let base = "";
let clone = "";
const ambit = [process.execPath, join(root, "bin", "ambit")];

const git = (folder: string, ...words: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], {
    cwd: folder,
    encoding: "utf8",
  });

/** A branch of the project with this record. */
function commit(project: string, branch: string, text: string, more: Readonly<Record<string, string>> = {}): void {
  git(project, "checkout", "-q", "-B", branch, "main");
  writeFiles(project, { ".ambit/agents/scout.md": text, ...more });
  git(project, "add", "-A");
  git(project, "commit", "-q", "--allow-empty", "-am", branch);
}

const scout = (...grants: readonly string[]): string =>
  recordText(grants, "sandbox: .\ntests: [{ allow: fs.read README.md }]\n");
const SCOUT = scout("fs.read");

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "ambit-ci-"));
  const project = join(base, "project");
  writeFiles(project, { ".ambit/agents/scout.md": SCOUT, "README.md": "x\n" });
  git(project, "init", "-q", "-b", "main");
  git(project, "add", "-A");
  git(project, "commit", "-q", "-m", "one");
  commit(project, "same", SCOUT);
  commit(project, "wider", scout("fs.read", "net.get{hosts=[evil.example]}"));
  commit(project, "broken", SCOUT.replace("allow:", "deny:"));
  commit(project, "unread", SCOUT.replace("capabilities:", "capabilities: ["));
  commit(project, "mixed", scout("fs.read", "net.get{hosts=[evil.example]}"), {
    ".ambit/agents/other.md": "---\ncapabilities: [\n---\n",
  });
  // A peer that keeps what it was given.
  writeFiles(base, {
    "bin/gh": `#!/bin/sh\necho "$@" >>${base}/gh.log\nwhile [ "$1" != --body-file ]; do shift; done\ncat "$2" >>${base}/gh.log\n`,
  });
  chmodSync(join(base, "bin", "gh"), 0o755);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));
beforeEach(() => {
  clone = mkdtempSync(join(base, "clone-"));
  git(base, "clone", "-q", join(base, "project"), clone);
  rmSync(join(base, "gh.log"), { force: true });
});

function action(
  branch: string,
  more: Readonly<Record<string, string>> = {},
): { status: number | null; out: string; gh: string; outputs: string } {
  git(clone, "checkout", "-q", `origin/${branch}`);
  const { status, stdout, stderr } = spawnSync("bash", [join(root, "deploy", "github-action.sh")], {
    cwd: clone,
    encoding: "utf8",
    env: {
      PATH: `${join(base, "bin")}:${process.env["PATH"]}`,
      XDG_STATE_HOME: join(base, "state"),
      XDG_CONFIG_HOME: join(base, "config"),
      AMBIT_COMMAND: ambit.join(" "),
      AMBIT_BASE: "origin/main",
      AMBIT_ALLOW_WIDENING: "false",
      AMBIT_COMMENT: "true",
      AMBIT_PULL_REQUEST: "7",
      GITHUB_OUTPUT: join(clone, "outputs"),
      ...more,
    },
  });
  const read = (path: string): string => spawnSync("cat", [path], { encoding: "utf8" }).stdout;
  return { status, out: stdout + stderr, gh: read(join(base, "gh.log")), outputs: read(join(clone, "outputs")) };
}

describe("the action, in a clone that is not trusted", () => {
  test("succeeds and says nothing where no agent may do more", () => {
    expect(action("same")).toMatchObject({ status: 0, gh: "", outputs: "widened=false\n" });
  });

  test("fails with 13 and comments what widened", () => {
    const { status, gh, outputs } = action("wider");
    expect([status, outputs]).toEqual([13, "widened=true\n"]);
    expect(gh).toContain("pr comment 7 --body-file");
    expect(gh).toContain("**An agent may do more than before.**");
    expect(gh).toMatch(/^ {4}.*net\.get.*evil\.example/m);
  });

  test("succeeds where a person allowed the widening, and still comments", () => {
    const { status, gh } = action("wider", { AMBIT_ALLOW_WIDENING: "true" });
    expect(status).toBe(0);
    expect(gh).toContain("may do more");
  });

  test("fails for a policy that is not valid or fails its own tests", () => {
    expect(action("unread").status).toBe(3);
    expect(action("broken").status).toBe(3);
  });

  test("says that an agent may do more although another line is not valid", () => {
    const { status, gh, outputs } = action("mixed");
    expect([status, outputs]).toEqual([3, "widened=true\n"]);
    expect(gh).toContain("**A policy is not valid.** **An agent may do more than before.**");
  });

  test.each(["origin/none", "--help", "-h"])("fails where the base is %s", (base) => {
    expect(action("same", { AMBIT_BASE: base }).status).toBe(1);
  });

  test("prints texts of records where the runner takes no commands", () => {
    const { out } = action("wider");
    const [, token] = /^::stop-commands::([0-9a-f]{32})$/m.exec(out) ?? [];
    expect(out.indexOf("evil.example")).toBeLessThan(out.indexOf(`\n::${token}::`));
  });
});

test("the action passes texts of a pull request as variables alone", () => {
  const { runs } = parse(readFileSync(join(root, "action.yml"), "utf8"));
  for (const { run } of runs.steps) expect(run).not.toContain("${{");
});

test("the recipe of the guide: test and diff in a fresh clone", () => {
  const page = readFileSync(join(root, "docs", "ci.md"), "utf8");
  const lines = [...page.matchAll(/^ {4}- run: npx --no-install ambit (.*)$/gm)].map(([, words]) => words ?? "");
  expect(lines.slice(0, 2)).toEqual(["test", 'diff "origin/$BASE" HEAD']);
  git(clone, "checkout", "-q", "origin/wider");
  const statuses = lines.slice(0, 2).map((line) => {
    const words = line.replaceAll('"', "").replace("$BASE", "main").split(" ");
    const env = {
      PATH: process.env["PATH"],
      XDG_STATE_HOME: join(base, "state"),
      XDG_CONFIG_HOME: join(base, "config"),
    };
    return spawnSync(ambit[0] ?? "", [ambit[1] ?? "", ...words], { cwd: clone, env }).status;
  });
  expect(statuses).toEqual([0, 13]);
});
