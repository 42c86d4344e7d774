// Triggers of an org file, through the built program: schedules that begin with trust, change with the file and end with their line.
import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { holdsWithin } from "../house/until.ts";
import { Walk } from "../seeds/walk.ts";

const walk = new Walk();
const patienceMilliseconds = 120_000;
const KEY = "a-key-that-signs-requests";
const HEAD =
  '# Org\n\n- defaults: { "client": "echo" }\n\n## Agents\n\n### Boss\n\n### Dev\n\n- reports to: Boss\n\n## Triggers\n\n';

interface Shown {
  readonly id: string;
  readonly agent: string;
  readonly when: string;
  readonly line?: string;
  readonly isPaused?: boolean;
  readonly reason: string;
  readonly next: number | null;
  readonly count: number;
}
interface ShownTask {
  readonly prompt: string;
  readonly state: string;
  readonly agent: string;
}

const org = (triggers: string): void => walk.write({ ".ambit/org.md": `${HEAD}${triggers}` });
const listed = (): { readonly schedules: readonly Shown[]; readonly waiting: readonly { readonly why: string }[] } =>
  JSON.parse(walk.ambit("schedules", "list", "--json").out);
const tasks = (): readonly ShownTask[] => JSON.parse(walk.ambit("tasks", "list", "--json").out).tasks;
function outcomes(): readonly string[] {
  const { out } = walk.ambit("log", "--kind", "control", "--text", "schedule", "--count", "1000", "--json");
  const lines = out.trim() === "" ? [] : out.trim().split("\n");
  return lines.map((line) => (JSON.parse(line) as { entry: { outcome: string } }).entry.outcome);
}

const runners: { process: ChildProcess; out: string }[] = [];
function work(...words: readonly string[]): { readonly process: ChildProcess; readonly out: string } {
  const program = [join(root, "bin", "ambit"), "tasks", "work", "--json", ...words];
  const runner = { process: spawn(process.execPath, program, { cwd: walk.folder, env: environment }), out: "" };
  runner.process.stdout?.on("data", (bytes: Buffer) => {
    runner.out += bytes.toString();
  });
  runners.push(runner);
  return runner;
}
async function end(runner: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (runner.exitCode !== null || runner.signalCode !== null) return;
  await new Promise((give) => {
    runner.once("exit", give);
    runner.kill(signal);
  });
}

beforeAll(() => {
  walk.write({ ".ambit/org.md": HEAD, key: KEY });
  walk.trust();
  const words = ["inbound", "--tool", "webhook", "--host", "localhost", "--from", "file:key"];
  expect(walk.ambit("secrets", "set", ...words)).toMatchObject({ status: 0 });
  rmSync(join(walk.folder, "key"));
});
afterEach(async () => {
  for (const { process: one } of runners.splice(0)) await end(one);
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

test("it begins with trust, is shown with its line, follows the file, and ends with its line", () => {
  org("### Weekly review\n\n- every: 7d\n\nReview.\n\n### Plan\n\n- cron: 0 9 * * 1\n- agent: Dev\n\nPlan.\n");
  expect(listed()).toMatchObject({ schedules: [], waiting: [{ why: expect.stringContaining("ambit trust") }, {}] });
  expect(walk.ambit("trust").out).toContain('every 7d  boss  "Weekly review"  Review.');
  expect(walk.ambit("org", "show").out).toContain("it changed since it was trusted");
  walk.trust();
  const first = listed();
  expect(first.waiting).toEqual([]);
  expect(first.schedules.map(({ when, agent, line }) => [when, agent, line]).sort()).toEqual([
    ["cron 0 9 * * 1", "dev", ".ambit/org.md:21"],
    ["every 7d", "boss", ".ambit/org.md:15"],
  ]);
  const weekly = first.schedules.find(({ when }) => when === "every 7d");
  expect(walk.ambit("schedules", "list").out).toContain(".ambit/org.md:15");
  expect(walk.ambit("schedules", "show", weekly?.id ?? "").out).toContain('"Weekly review" of .ambit/org.md:15');
  // A person cannot remove what the file has: it would be there again.
  expect(walk.ambit("schedules", "remove", weekly?.id ?? "")).toMatchObject({
    status: 1,
    err: expect.stringContaining("of .ambit/org.md:15: delete it there"),
  });

  // A line that is gone counts at once, one that changed after trust; the other one is not touched.
  org("Prose.\n\n### Weekly review\n\n- every: 8d\n\nReview.\n");
  expect(listed().schedules).toMatchObject([
    { id: weekly?.id, when: "every 7d", isPaused: true, line: ".ambit/org.md:17" },
  ]);
  walk.trust();
  const [changed] = listed().schedules;
  expect(changed).toMatchObject({ id: weekly?.id, when: "every 8d" });
  expect(changed?.isPaused).toBe(undefined);
  // The same times with another text.
  org("### Weekly review\n\n- every: 8d\n\nReview all.\n");
  walk.trust();
  expect(listed().schedules).toMatchObject([{ id: weekly?.id, next: changed?.next }]);

  // A file that cannot be read starts nothing, and loses nothing.
  org("### Weekly review\n\n- every: often\n\nReview all.\n");
  expect(listed().schedules).toMatchObject([{ isPaused: true, reason: expect.stringContaining("ambit org show") }]);
  expect(walk.ambit("org", "show")).toMatchObject({ status: 3, err: expect.stringMatching(/often\n.*\^\^\^\^\^/) });
  org("### Weekly review\n\n- every: 8d\n\nReview all.\n");
  expect(listed().schedules).toMatchObject([{ id: weekly?.id, next: changed?.next }]);

  expect(walk.ambit("trust", "--revoke").status).toBe(0);
  expect(listed().schedules).toMatchObject([{ isPaused: true, reason: expect.stringContaining("ambit trust") }]);
  rmSync(join(walk.folder, ".ambit/org.md"));
  expect(JSON.parse(walk.ambit("schedules", "list", "--all", "--json").out)).toEqual({ schedules: [], waiting: [] });
  expect(outcomes()).toEqual(
    ["added", "added", "removed", "paused", "changed", "changed", "paused", "resumed", "paused", "removed"].map(
      (word) => `schedule ${word}`,
    ),
  );
});

test("what is wrong with the file is said once by trust, and of a trigger it is what is wrong with it", () => {
  org("### Watch\n\n- command: tail -f x\n\nLook.\n");
  const { out, err } = walk.ambit("trust");
  expect(`${out}${err}`.match(/a trigger with `command` starts nothing/g)).toHaveLength(1);
  org("### Never\n\n- every: 0m\n\nLook.\n");
  expect(walk.ambit("org", "show").out).toMatch(/"Never".*the org file has errors/);
  rmSync(join(walk.folder, ".ambit/org.md"));
});

test("its tasks run, each time once, with two runners and kills of one of them and of the daemon", async () => {
  const at = new Date(Date.now() + 15_000).toISOString();
  const one = (number: number): string => `### Once ${number}\n\n- at: ${at}\n- agent: Dev\n\nTask ${number}.\n`;
  org([1, 2, 3, 4, 5].map(one).join("\n"));
  walk.trust();
  const [first] = [work("--jobs", "2"), work("--jobs", "2")];
  expect(await holdsWithin(patienceMilliseconds, () => listed().schedules.some(({ count }) => count > 0), 200)).toBe(
    true,
  );
  await end(first?.process as ChildProcess, "SIGKILL");
  const { pid } = JSON.parse(walk.ambit("daemon", "status", "--json").out) as { pid: number };
  process.kill(pid, "SIGKILL");
  const isOver = (): boolean => {
    const own = tasks().filter(({ prompt }) => prompt.startsWith("Task "));
    return own.length >= 5 && own.every(({ state }) => state === "done");
  };
  expect(await holdsWithin(patienceMilliseconds, isOver, 300)).toBe(true);
  expect(
    tasks()
      .map(({ prompt }) => prompt)
      .filter((prompt) => prompt.startsWith("Task "))
      .sort(),
  ).toEqual(["Task 1.", "Task 2.", "Task 3.", "Task 4.", "Task 5."]);
  expect(listed().schedules.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1]);
  // A time that has passed does not come again with the line.
  org("");
  expect(listed().schedules).toEqual([]);
  org(one(1));
  expect(listed()).toMatchObject({
    schedules: [],
    waiting: [{ why: expect.stringContaining("is in the past, or never occurs") }],
  });
});

test("a webhook of the file is answered while its line is there and trusted, and no request counts twice", async () => {
  const hook = "### Inbound\n\nA signup arrived.\n";
  const follow = "\n### Then\n\n- after: Inbound\n- agent: Dev\n\nFollow up.\n";
  org(`${hook}${follow}`);
  walk.trust();
  const runner = work("--webhooks", "0");
  expect(await holdsWithin(patienceMilliseconds, () => runner.out.includes('"webhooks"'), 100)).toBe(true);
  const { webhooks } = JSON.parse(runner.out.split("\n")[0] ?? "") as { webhooks: string };
  const send = async (body: string, key = KEY): Promise<readonly [number, () => Promise<number>]> => {
    const time = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", key).update(`${time}.${body}`).digest("hex");
    const headers = { "x-ambit-timestamp": time, "x-ambit-signature": `sha256=${signature}` };
    const post = async (): Promise<number> =>
      (await fetch(`${webhooks}/api/trigger/inbound`, { method: "POST", body, headers })).status;
    return [await post(), post];
  };
  expect(listed().schedules).toHaveLength(2);
  const [accepted, again] = await send("one");
  expect([accepted, await again(), (await send("x", "another-key"))[0]]).toEqual([202, 401, 401]);
  const isFollowed = (): boolean => tasks().some(({ prompt, state }) => prompt === "Follow up." && state === "done");
  expect(await holdsWithin(patienceMilliseconds, isFollowed, 300)).toBe(true);

  // Another text of the same trigger is the same webhook: what was accepted stays accepted.
  org(hook.replace("arrived", "came"));
  expect((await send("two"))[0]).toBe(401);
  walk.trust();
  expect([await again(), (await send("three"))[0]]).toEqual([401, 202]);
  org("");
  expect((await send("four"))[0]).toBe(401);
  org(hook.replace("arrived", "came"));
  walk.trust();
  expect(listed().schedules).toHaveLength(1);
  expect(await again()).toBe(401);
  // A secret that is bound to another tool by now signs nothing.
  expect(walk.ambit("secrets", "policy", "inbound", "--tool", "http_request").status).toBe(0);
  expect((await send("five"))[0]).toBe(503);
});

test("a trigger whose text is hostile is shown on one line, and its name leaves nothing", () => {
  org("### A\u001b[2J ../../x $(id)\n\n- every: 7d\n\nGo\u0007.\n");
  walk.trust();
  const { out } = walk.ambit("schedules", "list");
  for (const control of ["\u001b", "\u0007"]) expect(out).not.toContain(control);
  expect(listed().schedules).toMatchObject([{ line: ".ambit/org.md:15" }]);
});
