// The log as a person uses it: the built program, a real daemon and its database, allowed and denied calls, their explanation,
// the verification, and an edit of the database behind the daemon's back.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Database, loadDriver } from "../../src/store/sqlite.ts";
import { editEntry } from "../../src/store/testing/leaf.ts";
import { ambit, environment, type Ran, root } from "./ambit.ts";

let project = "";
let key = "";
const run = (...words: readonly string[]): Ran => ambit(project, ...words);

interface Line {
  readonly place: number;
  readonly entry: { readonly id: string; readonly outcome: string; readonly session: string; readonly kind: string };
}
const lines = (...words: readonly string[]): readonly Line[] =>
  run("log", "--json", ...words)
    .out.split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
const newest = (...words: readonly string[]): Line => lines("--count", "1", ...words)[0] as Line;

beforeAll(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "ambit-log-")));
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  const record = `---\nsandbox: .\ncapabilities:\n  - "proc.exec{in=.,cmds=[echo]}"\n---\n`;
  writeFileSync(join(project, ".ambit", "agents", "scout.md"), record);
  expect(run("trust", "--yes")).toMatchObject({ status: 0 });
  expect(run("exec", "scout", "--", "echo", "hello")).toMatchObject({ status: 0, out: "hello\n" });
  expect(run("exec", "scout", "--", "cat", "\u001b[2J\u202e")).toMatchObject({ status: 125 });
  key = run("audit", "key").out.trim();
});
afterAll(() => {
  run("daemon", "stop");
  rmSync(project, { recursive: true, force: true });
});

describe("ambit log", () => {
  test("shows allowed and denied calls, without control characters for the terminal", () => {
    const { out, status } = run("log", "--agent", "scout", "--kind", "decision");
    expect(status).toBe(0);
    expect(out).toMatch(/proc_exec\s+allow\s/);
    expect(out).toMatch(/proc_exec\s+deny \w+\s/);
    expect(out).not.toMatch(/(?!\n)\p{C}/u);
    expect(lines("--outcome", "deny", "--verb", "proc.exec").every(({ entry }) => entry.outcome === "deny")).toBe(true);
    expect(lines("--agent", "missing")).toEqual([]);
    expect(lines("--until", "2h")).toEqual([]);
  });

  test("shows a session from its opening to its end", () => {
    const { session } = newest("--kind", "decision", "--outcome", "allow").entry;
    const { out } = run("log", "--session", session);
    expect(out).toMatch(/^session s_\w+ {2}agent scout/);
    const order = ["opened", "allow", "outcome", "enforced by:", "closed"].map((word) => out.indexOf(word));
    expect(order.every((at) => at > 0)).toBe(true);
    expect(order).toEqual(order.toSorted((one, other) => one - other));
  });

  test("follows new entries until the reader exits", async () => {
    const follower = spawn(
      process.execPath,
      [join(root, "bin", "ambit"), "log", "--follow", "--json", "--count", "1"],
      {
        cwd: project,
        env: environment,
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    try {
      let seen = "";
      const has = async (what: string): Promise<void> => {
        for await (const chunk of follower.stdout) {
          seen += String(chunk);
          if (seen.includes(what)) return;
        }
      };
      await once(follower.stdout, "readable");
      run("exec", "scout", "--", "cat", "later");
      await has("later");
      expect(seen).toContain("later");
    } finally {
      follower.kill();
      if (follower.exitCode === null && follower.signalCode === null) await once(follower, "exit");
    }
  });
});

describe("ambit why", () => {
  test("explains an allow by the line of the record, and shows its outcome", () => {
    const { out, status } = run("why", newest("--kind", "decision", "--outcome", "allow").entry.id);
    expect(status).toBe(0);
    expect(out).toContain("proc.exec");
    expect(out).toMatch(/scout\.md:4/);
    expect(out).toMatch(/outcome {3}\S*exited/);
  });

  test("explains a denial with its sentence, also by a prefix of its id", () => {
    const { id } = newest("--kind", "decision", "--outcome", "deny").entry;
    for (const name of [id, id.slice(0, -2)]) {
      const { out, status } = run("why", name);
      expect(status).toBe(0);
      expect(out).toContain(id);
      expect(out).toMatch(/means {5}\S/);
    }
    expect(run("why", "c_nothing")).toMatchObject({ status: 1 });
  });
});

describe("ambit audit", () => {
  test("verifies the log, here and from an export without the daemon, also after a key rotation", () => {
    expect(JSON.parse(run("audit", "verify", "--json").out)).toMatchObject({ isIntact: true, problems: [] });
    const head = run("audit", "verify", "--json").out;
    writeFileSync(join(project, "head.json"), head);
    expect(run("audit", "rotate", "--yes").status).toBe(0);
    run("exec", "scout", "--", "echo", "again");
    expect(run("audit", "key").out.split("\n")[0]).toBe(key);
    expect(run("audit", "verify", "--head", "head.json", "--key", key)).toMatchObject({ status: 0 });
    const file = join(project, "log.jsonl");
    expect(run("audit", "export", file).status).toBe(0);
    expect(run("audit", "verify", "--file", file, "--key", key, "--head", "head.json")).toMatchObject({ status: 0 });
    writeFileSync(file, readFileSync(file, "utf8").replace("hello", "hullo"));
    expect(run("audit", "verify", "--file", file, "--key", key)).toMatchObject({ status: 1 });
  });

  test("finds an entry that was edited in the database itself", () => {
    const { place } = newest("--kind", "decision", "--outcome", "allow", "--text", "hello");
    expect(run("daemon", "stop").status).toBe(0);
    const path = join(environment["XDG_STATE_HOME"] as string, "ambit", "state.db");
    const open = loadDriver(root);
    const database = open?.(path, false) as Database;
    editEntry(database, place, ({ body }) => ({ body: body.replace("hello", "hullo") }));
    database.close();
    const { status, out } = run("audit", "verify", "--json");
    expect(status).toBe(1);
    expect((JSON.parse(out) as { problems: { place: number }[] }).problems[0]?.place).toBe(place);
    expect(run("audit", "verify", "--key", key)).toMatchObject({ status: 1 });
  });
});
