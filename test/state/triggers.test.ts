// Schedules that files and webhooks start, through the built program and a runner that listens on the loopback address.
import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { holdsWithin } from "../house/until.ts";
import { Walk } from "../seeds/walk.ts";

const walk = new Walk();
const patienceMilliseconds = 60_000;
const KEY = "a-key-that-signs-requests";

interface ShownTask {
  readonly id: string;
  readonly state: string;
  readonly prompt: string;
  readonly isFromOutside?: boolean;
  readonly origin: { readonly id: string } | null;
}
const tasksOf = (schedule: string): readonly ShownTask[] =>
  (JSON.parse(walk.ambit("tasks", "list", "--json").out) as { tasks: readonly ShownTask[] }).tasks.filter(
    ({ origin }) => origin?.id === schedule,
  );
const isDone = (schedule: string, count: number): boolean => {
  const tasks = tasksOf(schedule);
  return tasks.length === count && tasks.every(({ state }) => state === "done");
};
const schedule = (...words: readonly string[]): string => {
  const added = walk.ambit("schedules", "add", "--json", ...words);
  if (added.status !== 0) throw new Error(added.err);
  return (JSON.parse(added.out) as { schedule: { id: string } }).schedule.id;
};

let runner: Runner | null = null;
let address = "";

interface Runner {
  readonly process: ChildProcess;
  readonly address: string;
}
async function runnerIn(folder: string): Promise<Runner> {
  const program = [join(root, "bin", "ambit"), "tasks", "work", "--json", "--webhooks", "0"];
  const started = spawn(process.execPath, program, { cwd: folder, env: environment });
  let out = "";
  started.stdout.on("data", (bytes: Buffer) => {
    out += bytes.toString();
  });
  const isListening = (): boolean => out.includes('"webhooks"');
  expect(await holdsWithin(patienceMilliseconds, isListening, 100)).toBe(true);
  return {
    process: started,
    address: (JSON.parse(out.split("\n")[0] ?? "") as { webhooks: string }).webhooks,
  };
}
async function begin(): Promise<void> {
  runner = await runnerIn(walk.folder);
  ({ address } = runner);
}
async function end(ended: Runner | null = runner): Promise<void> {
  if (ended === null) return;
  if (ended === runner) runner = null;
  await new Promise((give) => {
    ended.process.once("exit", give);
    ended.process.kill("SIGTERM");
  });
}

interface HookParts {
  readonly at?: number;
  readonly key?: string;
  readonly signature?: string;
  readonly to?: string;
}
async function hook(name: string, body: string, parts: HookParts = {}): Promise<number> {
  const { at = Math.floor(Date.now() / 1000), key = KEY, to = address } = parts;
  const signature = parts.signature ?? createHmac("sha256", key).update(`${at}.${body}`).digest("hex");
  const headers = { "x-ambit-timestamp": String(at), "x-ambit-signature": `sha256=${signature}` };
  const response = await fetch(`${to}/api/trigger/${name}`, { method: "POST", body, headers });
  return response.status;
}

beforeAll(async () => {
  walk.write({
    ".ambit/org.yml": "name: Org\ndefaults: { client: echo }\nagents:\n  dev: { role: Dev }\n",
    "docs/a.md": "a\n",
    "hook-key": KEY,
  });
  walk.trust();
  expect(
    walk.ambit("secrets", "set", "deploy", "--tool", "webhook", "--host", "localhost", "--from", "file:hook-key")
      .status,
  ).toBe(0);
  rmSync(join(walk.folder, "hook-key"));
  await begin();
});
afterAll(async () => {
  await end();
  walk.ambit("daemon", "stop");
});

describe("on file", () => {
  test("a burst of changes is one task; what the task writes itself starts no other one; a later change does", async () => {
    const id = schedule("dev", "on file docs/**/*.md", "--", "sh", "-c", "cat docs/a.md > docs/all.md");
    for (let count = 0; count < 20; count++) walk.write({ [`docs/new-${count}.md`]: "x\n", "docs/a.md": `${count}\n` });
    walk.write({ "other.md": "not matched\n", "docs/x.txt": "not matched\n" });
    expect(await holdsWithin(patienceMilliseconds, () => isDone(id, 1), 300)).toBe(true);
    expect(walk.exists("docs/all.md")).toBe(true);
    // A second schedule that changed files start proves that the runner looked again meanwhile.
    const other = schedule("dev", "on file mark.txt", "--", "true");
    walk.write({ "mark.txt": "1\n" });
    expect(await holdsWithin(patienceMilliseconds, () => isDone(other, 1), 300)).toBe(true);
    expect(isDone(id, 1)).toBe(true);
    walk.write({ "docs/a.md": "later\n" });
    expect(await holdsWithin(patienceMilliseconds, () => isDone(id, 2), 300)).toBe(true);
    walk.ambit("schedules", "remove", id);
    walk.ambit("schedules", "remove", other);
  });
  test("an edit that keeps the size and the time of the file starts a task; a task that reads it starts none", async () => {
    walk.write({ "kept.txt": "one\n" });
    const id = schedule("dev", "on file kept.txt", "--", "cat", "kept.txt");
    const path = join(walk.folder, "kept.txt");
    const { atime, mtime } = statSync(path);
    walk.write({ "kept.txt": "two\n" });
    utimesSync(path, atime, mtime);
    expect(await holdsWithin(patienceMilliseconds, () => isDone(id, 1), 300)).toBe(true);
    const other = schedule("dev", "on file mark2.txt", "--", "true");
    walk.write({ "mark2.txt": "1\n" });
    expect(await holdsWithin(patienceMilliseconds, () => isDone(other, 1), 300)).toBe(true);
    expect(isDone(id, 1)).toBe(true);
    walk.ambit("schedules", "remove", id);
    walk.ambit("schedules", "remove", other);
  });
  test("what changed while the daemon was down: once, or not at all, as written", async () => {
    const once = schedule("dev", "on file down.txt", "--", "true");
    const skip = schedule("dev", "on file down.txt", "--missed", "skip", "--", "true");
    await end();
    walk.ambit("daemon", "stop");
    walk.write({ "down.txt": "1\n" });
    await begin();
    expect(await holdsWithin(patienceMilliseconds, () => isDone(once, 1), 300)).toBe(true);
    const isSkipped = (): boolean => walk.ambit("schedules", "show", skip).out.includes("changes were missed");
    expect(await holdsWithin(patienceMilliseconds, isSkipped, 300)).toBe(true);
    expect(tasksOf(skip)).toEqual([]);
    expect(isDone(once, 1)).toBe(true);
  });
});

test("a folder with more files than are looked at is refused, and names what to do", () => {
  const many = join(walk.folder, "many");
  mkdirSync(many);
  for (let number = 0; number < 20_001; number++) writeFileSync(join(many, String(number)), "");
  const refused = walk.ambit("schedules", "add", "dev", "on file many/**", "x");
  expect([refused.status === 0, refused.err]).toEqual([false, expect.stringContaining("use a smaller folder")]);
  // What else is in the workspace does not count.
  walk.ambit("schedules", "remove", schedule("dev", "on file docs/*.md", "x"));
  rmSync(many, { recursive: true });
});

describe("on webhook", () => {
  test("a signed request starts a task with its body as data; the same request again does not", async () => {
    const id = schedule("dev", "on webhook deploy", "look at the deploy");
    const at = Math.floor(Date.now() / 1000);
    expect(await hook("deploy", '{"version": 7}', { at })).toBe(202);
    expect(await hook("deploy", '{"version": 7}', { at })).toBe(401);
    expect(await holdsWithin(patienceMilliseconds, () => isDone(id, 1), 300)).toBe(true);
    const [task] = tasksOf(id);
    expect(task).toMatchObject({ isFromOutside: true });
    expect(walk.ambit("tasks", "log", task?.id ?? "").out).toContain('{"version": 7}');
    // The session that runs it is not clean.
    expect(walk.ambit("log", "--text", "replayed", "--json").out).toContain("webhook refused");
  });
  test.each<[string, string, string, HookParts]>([
    ["another key", "deploy", "x", { key: "another-key-altogether" }],
    ["no signature", "deploy", "x", { signature: "" }],
    [
      "a signature of another body",
      "deploy",
      "x",
      { signature: createHmac("sha256", KEY).update("1.y").digest("hex") },
    ],
    ["a time long ago", "deploy", "x", { at: 1_000_000_000 }],
    ["an unknown name", "nothing", "x", {}],
  ])("with %s is refused with 401, and logged", async (_, name, body, parts) => {
    const count = (): number =>
      walk.ambit("log", "--text", "webhook refused", "--json", "--count", "100").out.split("\n").length;
    const before = count();
    expect(await hook(name, body, parts)).toBe(401);
    expect(count()).toBeGreaterThan(before);
  });
  test("too large, not text, another method and another path are refused", async () => {
    expect(await hook("deploy", "x".repeat(70_000))).toBe(413);
    const url = `${address}/api/trigger/deploy`;
    expect((await fetch(url, { method: "POST", body: new Uint8Array([0xff, 0xfe]) })).status).toBe(400);
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(url, { method: "POST", headers: { origin: "https://example.com" } })).status).toBe(403);
    expect((await fetch(`${address}/`, { method: "POST" })).status).toBe(404);
  });
  test("needs a secret that is bound to webhooks, and listens on the loopback address alone", () => {
    expect(walk.ambit("schedules", "add", "dev", "on webhook other", "x").err).toContain("ambit secrets set other");
    expect(walk.ambit("schedules", "add", "dev", "on webhook deploy", "x").err).toContain("already");
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });
  test("requests while its task is open are one task afterwards", async () => {
    const [before] = (
      JSON.parse(walk.ambit("schedules", "list", "--json").out) as { schedules: { id: string; when: string }[] }
    ).schedules.filter(({ when }) => when === "on webhook deploy");
    const id = before?.id ?? "";
    const statuses = await Promise.all(Array.from({ length: 8 }, (_, at) => hook("deploy", `body ${at}`)));
    expect(statuses).toEqual(statuses.map(() => 202));
    const isCounted = (): boolean => {
      const tasks = tasksOf(id).slice(0, -1);
      const counts = tasks.map(({ prompt }) => Number(/by (\d+) requests/.exec(prompt)?.[1] ?? 1));
      return tasks.every(({ state }) => state === "done") && counts.reduce((sum, one) => sum + one, 0) === 8;
    };
    expect(await holdsWithin(patienceMilliseconds, isCounted, 300)).toBe(true);
  });
  test("is not started by a request that another workspace had", async () => {
    const other = new Walk();
    other.write({ ".ambit/org.yml": "name: Org\ndefaults: { client: echo }\nagents:\n  dev: { role: Dev }\n" });
    other.trust();
    expect(other.ambit("schedules", "add", "dev", "on webhook deploy", "x").status).toBe(0);
    const second = await runnerIn(other.folder);
    try {
      const at = Math.floor(Date.now() / 1000);
      expect(await hook("deploy", "first", { at })).toBe(202);
      expect(await hook("deploy", "first", { at, to: second.address })).toBe(401);
      const both = await Promise.all([address, second.address].map((to) => hook("deploy", "second", { at, to })));
      expect(both.toSorted()).toEqual([202, 401]);
    } finally {
      await end(second);
    }
  });
  test("a request from before the schedule was added is too old", async () => {
    walk.write({ "early-key": KEY });
    expect(
      walk.ambit("secrets", "set", "early", "--tool", "webhook", "--host", "localhost", "--from", "file:early-key")
        .status,
    ).toBe(0);
    schedule("dev", "on webhook early", "x");
    expect(await hook("early", "x", { at: Math.floor(Date.now() / 1000) - 60 })).toBe(401);
    expect(await hook("early", "x")).toBe(202);
  });
});

test("an agent does not let files and webhooks start its tasks", () => {
  expect(walk.call("dev", "task_schedule", { when: "on file **", prompt: "x" }).code).toBe("invalid_input");
  expect(walk.call("dev", "task_schedule", { when: " on webhook deploy", prompt: "x" }).code).toBe("invalid_input");
});
