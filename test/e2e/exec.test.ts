// `ambit exec` as a user runs it: the built program, the real sandbox, as root and as an ordinary user.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { prepareState } from "../house/daemon-state.ts";
import { writeAgent, writeFiles } from "../house/files.ts";
import { removeState } from "../house/remove-state.ts";
import { until } from "../house/until.ts";
import { type Ran, root } from "./ambit.ts";

const program = join(root, "bin", "ambit");
let base = "";
let project = "";

/** Only root can run tests as an ordinary user, who must be able to reach the program and its own folders. */

function begin(name = "project"): void {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-exec-")));
  chmodSync(base, 0o755);
  project = join(base, name);
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  prepareState(join(base, "state"), join(base, "config"));
}

const write = (path: string, text: string): void => writeFiles(base, { [path]: text });
const agent = (id: string, ...grants: readonly string[]): void => writeAgent(project, id, ...grants);

function owned(user: number): void {
  if (user === 0 || process.getuid?.() !== 0) return;
  for (const path of [base, ...readdirSync(base, { recursive: true, encoding: "utf8" }).map((one) => join(base, one))])
    chownSync(path, user, user);
}

function ambit(user: number, cwd: string, words: readonly string[], input = ""): Ran {
  const as = user === process.getuid?.() ? [] : ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
  const [command = "", ...rest] = [...as, process.execPath, program, ...words];
  const env = {
    PATH: process.env["PATH"],
    NO_COLOR: "1",
    SECRET_OF_THE_HOST: "hunter2hunter2",
    ...folders(),
  };
  const { status, stdout, stderr } = spawnSync(command, rest, { cwd, encoding: "utf8", env, input, timeout: 120_000 });
  return { status, out: stdout, err: stderr };
}

/** For two at once: resolves with its status when it exits. */
async function started(user: number, words: readonly string[]): Promise<number | null> {
  const as = user === process.getuid?.() ? [] : ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
  const [command = "", ...rest] = [...as, process.execPath, program, ...words];
  const child = spawn(command, rest, {
    cwd: project,
    env: { PATH: process.env["PATH"], ...folders() },
    stdio: "ignore",
  });
  const [status] = (await once(child, "close")) as [number | null];
  return status;
}

function folders(): Record<string, string> {
  return { HOME: base, XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") };
}

const ALL = ["proc.exec", "proc.eval", "sandbox.exec", "fs.read", "fs.write"];

beforeEach(() => begin());
afterEach(() => removeState(base));

describe.each(CALLERS)("for user %i", (user) => {
  const trusted = (): void => {
    owned(user);
    expect(ambit(user, project, ["trust", "--yes"])).toMatchObject({ status: 0 });
  };
  const exec = (...words: readonly string[]): Ran => ambit(user, project, ["exec", ...words]);

  test("output and status are the program's own, and its input reaches it", () => {
    agent("coder", ...ALL);
    trusted();
    expect(exec("coder", "--", "sh", "-c", "echo out; echo err >&2; exit 7")).toEqual({
      status: 7,
      out: "out\n",
      err: "err\n",
    });
    expect(ambit(user, project, ["exec", "coder", "--", "tr", "a-z", "A-Z"], "hello").out).toBe("HELLO");
    expect(exec("coder", "--", "sh", "-c", "kill -9 $$").status).toBe(128 + 9);
    expect(exec("coder", "--shell", "--", "echo a | tr a b").out).toBe("b\n");
  });

  test("files it writes below its root are there, and nothing else changes", () => {
    agent("coder", ...ALL);
    write("outside.txt", "old");
    trusted();
    expect(exec("coder", "--", "sh", "-c", "echo new > made.txt; echo new > ../outside.txt").status).not.toBe(0);
    expect(readFileSync(join(project, "made.txt"), "utf8")).toBe("new\n");
    expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("old");
  });

  test("without a write grant the root is read-only, and --root rw is denied by the gate", () => {
    agent("reader", "proc.exec", "fs.read", "fs.write{paths=[]}");
    trusted();
    const tried = exec("reader", "--", "touch", "made.txt");
    expect(tried.status).toBe(1);
    expect(tried.err).toMatch(/Read-only/);
    expect(exec("reader", "--root", "rw", "--", "true")).toMatchObject({
      status: 125,
      err: expect.stringMatching(/deny {2}reader {2}proc\.exec .*scope_violation/),
    });
  });

  test("a program that is not granted is denied with the code, the nearest grant and the fix", () => {
    agent("narrow", "proc.exec{cmds=[git]}");
    trusted();
    const refused = exec("narrow", "--", "ls");
    expect(refused).toMatchObject({ status: 125, out: "" });
    expect(refused.err).toMatch(/scope_violation/);
    expect(refused.err).toMatch(/smallest grant that would allow it: proc\.exec\{.*ls/);
    const { code, outcome } = JSON.parse(exec("narrow", "--json", "--", "ls").out) as Record<string, unknown>;
    expect({ code, outcome }).toEqual({ code: "scope_violation", outcome: "refused" });
    expect(exec("narrow", "--", "git", "--version").status).toBe(0);
  });

  test("the environment is empty, the home is private, and the host's files are not visible", () => {
    agent("coder", ...ALL);
    trusted();
    const { out } = exec("coder", "--", "sh", "-c", "env; ls -A / $HOME; cat /etc/passwd; ls /proc | grep -c '^[0-9]'");
    expect(out).not.toMatch(/hunter2/);
    expect(out).not.toMatch(/^(root|home|var|opt|srv|mnt)$/m);
    expect(out.trimEnd().split("\n").at(-1)).toMatch(/^[1-5]$/);
    expect(out.match(/^[^\n:]+:x:/gm)?.length).toBeLessThanOrEqual(2);
    expect(exec("coder", "--", "cat", "/etc/shadow").status).not.toBe(0);
    expect(exec("coder", "--", "ls", root).status).not.toBe(0);
  });

  test("--json is one object with status, usage, denials, enforcement and output", () => {
    agent("coder", ...ALL);
    trusted();
    const ran = JSON.parse(exec("coder", "--json", "--", "sh", "-c", "echo hi; exit 3").out) as Record<string, unknown>;
    expect(ran).toMatchObject({ outcome: "ran", status: 3, output: "hi\n", denials: [] });
    expect(ran["usage"]).toMatchObject({ wallMicroseconds: expect.any(Number), memoryKibibytes: expect.any(Number) });
    expect(ran["enforcement"]).toContainEqual({
      axis: "root",
      strength: "kernel",
      note: expect.stringContaining("draft"),
    });
  });

  test("a throw-away sandbox has no files of this machine, and needs its own grant", () => {
    agent("coder", ...ALL);
    agent("none", "proc.exec");
    write("project/file.txt", "x");
    trusted();
    expect(exec("coder", "--throwaway", "--", "sh", "-c", "cd; pwd; ls -A / ..").out).not.toMatch(/file\.txt|project/);
    expect(exec("none", "--throwaway", "--", "true")).toMatchObject({
      status: 125,
      err: expect.stringMatching(/capability_absent/),
    });
  });

  test("a timeout, a missing program and a bad command line each exit with their own status", () => {
    agent("coder", ...ALL);
    trusted();
    expect(exec("coder", "--timeout", "0.5", "--", "sh", "-c", "setsid sleep 300 & sleep 300")).toMatchObject({
      status: 124,
      err: expect.stringMatching(/killed: timeout/),
    });
    expect(exec("coder", "--", "no-such-program").status).toBe(127);
    expect(exec("coder").status).toBe(125);
    expect(exec("coder", "--root", "x", "--", "true").status).toBe(125);
    expect(exec("coder", "--timeout", "-1", "--", "true").status).toBe(125);
    expect(exec("missing", "--", "true").status).toBe(125);
  });

  test("protected names are unchanged, whatever the program tries", () => {
    agent("coder", ...ALL);
    trusted();
    const before = readFileSync(join(project, ".ambit", "agents", "coder.md"), "utf8");
    for (const line of [
      "echo x >> .ambit/agents/coder.md",
      "rm -rf .ambit",
      "mv .ambit moved",
      "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
      "mv .git moved",
      "mkdir .vscode && echo x > .vscode/tasks.json",
    ])
      expect(JSON.parse(exec("coder", "--json", "--shell", "--", line).out)).toMatchObject({ outcome: "ran" });
    expect(readFileSync(join(project, ".ambit", "agents", "coder.md"), "utf8")).toBe(before);
    for (const name of [".git", ".vscode"]) expect(existsSync(join(project, name))).toBe(false);
  });

  test("an untrusted project runs nothing", () => {
    agent("coder", ...ALL);
    owned(user);
    const refused = exec("coder", "--json", "--", "true");
    expect(refused.status).toBe(125);
    expect(JSON.parse(refused.out)).toMatchObject({ outcome: "refused", code: "untrusted_policy" });
  });

  test("a decision and its outcome are logged on disk", () => {
    agent("coder", ...ALL);
    trusted();
    exec("coder", "--", "true");
    exec("coder", "--root", "rw", "--in", "/usr", "--", "true");
    const lines = ambit(user, project, ["log", "--json"]).out.trimEnd().split("\n");
    const entries = lines.map((line) => (JSON.parse(line) as { entry: Record<string, unknown> }).entry);
    const told = entries.filter(({ kind }) => kind === "decision" || kind === "outcome");
    expect(told).toMatchObject([
      { kind: "decision", agent: "coder", outcome: "allow" },
      { kind: "outcome", outcome: "exited 0", of: told[0]?.["id"] },
      { kind: "decision", agent: "coder", outcome: "deny", code: "scope_violation" },
    ]);
  });

  test("calls are charged, a counted write grant covers no file of a program, and one that expires later does", () => {
    const soon = new Date(Date.now() + 60_000).toISOString().replace(/\.\d+Z/, "Z");
    agent("counted", "proc.exec{calls=2}");
    agent("unwritable", "proc.exec", "fs.write{calls=1}");
    agent("ending", "proc.exec", `fs.write{expires=${soon}}`);
    trusted();
    expect([exec("counted", "--", "true").status, exec("counted", "--", "true").status]).toEqual([0, 0]);
    const counted = exec("counted", "--json", "--", "true");
    expect(JSON.parse(counted.out)).toMatchObject({ outcome: "refused", code: "budget_exhausted" });
    expect(exec("unwritable", "--", "touch", "made.txt").status).not.toBe(0);
    expect(existsSync(join(project, "made.txt"))).toBe(false);
    expect(exec("ending", "--", "touch", "made.txt").status).toBe(0);
  });

  test("a deleted working directory is reported, and program trees are shown before they are trusted", () => {
    agent("coder", ...ALL);
    writeFileSync(join(project, ".ambit", "config.yml"), "runtime: [/opt/tools]\n");
    owned(user);
    expect(ambit(user, project, ["trust", "--yes"]).out).toMatch(/may read and run \/opt\/tools/);
    const line = `mkdir -p ${base}/gone && cd ${base}/gone && rmdir ${base}/gone && exec ${process.execPath} ${program} status`;
    const { status, stderr } = spawnSync("/bin/sh", ["-c", line], { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toMatch(/working directory no longer exists/);
  });

  test("a stopped command lands what it wrote so far, and reports it, in --json as well", async () => {
    agent("coder", ...ALL);
    trusted();
    const as = user === process.getuid?.() ? [] : ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
    const words = ["exec", "coder", "--json", "--shell", "--", "echo {} > .mcp.json; touch begun; sleep 60"];
    const [command = "", ...rest] = [...as, process.execPath, program, ...words];
    const env = { PATH: process.env["PATH"], ...folders() };
    const child = spawn(command, rest, { cwd: project, env, stdio: ["ignore", "pipe", "ignore"] });
    let out = "";
    child.stdout.on("data", (part: Buffer) => {
      out += part;
    });
    const drafts = join(base, "state", "ambit", "drafts");
    const hasBegun = (): boolean =>
      existsSync(drafts) && readdirSync(drafts).some((id) => existsSync(join(drafts, id, "upper", "begun")));
    await until(hasBegun, "the program has begun");
    child.kill("SIGTERM");
    await once(child, "close");
    expect(JSON.parse(out)).toMatchObject({
      outcome: "ran",
      ending: { kind: "ended", because: "stopped" },
      changes: { landed: 1, kept: [{ path: ".mcp.json", code: "approval_required" }] },
    });
    expect([existsSync(join(project, "begun")), existsSync(join(project, ".mcp.json"))]).toEqual([true, false]);
  });

  test("three concurrent commands in a folder without a repository do not end each other", async () => {
    agent("coder", ...ALL);
    trusted();
    const runs = await Promise.all([1, 2, 3].map(() => started(user, ["exec", "coder", "--", "sleep", "1"])));
    expect(runs).toEqual([0, 0, 0]);
  });

  test("--json is one object for every kind of bad arguments", () => {
    agent("coder", ...ALL);
    trusted();
    for (const words of [
      ["--bogus", "--", "true"],
      ["--root", "x", "--", "true"],
      ["--timeout", "no", "--", "true"],
      [],
    ])
      expect(JSON.parse(exec("coder", "--json", ...words).out)).toMatchObject({
        outcome: "refused",
        code: "invalid_input",
      });
    expect(JSON.parse(exec("missing", "--json", "--", "true").out)).toMatchObject({ outcome: "refused" });
  });

  test.each(["with space", "ünï-코드", "new\nline", "quote'\"$x", "-dash"])(
    "a project folder called %j works",
    (name) => {
      removeState(base);
      begin(name);
      agent("coder", ...ALL);
      trusted();
      expect(exec("coder", "--", "sh", "-c", "echo x > made.txt && cat made.txt")).toMatchObject({
        status: 0,
        out: "x\n",
      });
      expect(existsSync(join(project, "made.txt"))).toBe(true);
    },
  );

  test("a project reached through a link, and a folder inside it", () => {
    agent("coder", ...ALL);
    mkdirSync(join(project, "inner"));
    symlinkSync(project, join(base, "linked"));
    trusted();
    const ran = ambit(user, join(base, "linked", "inner"), ["exec", "coder", "--", "sh", "-c", "pwd; touch made.txt"]);
    expect(ran).toMatchObject({ status: 0, out: `${join(project, "inner")}\n` });
    expect(existsSync(join(project, "inner", "made.txt"))).toBe(true);
  });
});
