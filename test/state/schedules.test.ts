// Schedules through the built program: they queue tasks at their times, also after a kill, and each time once.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { pause } from "../house/pause.ts";
import { holdsWithin } from "../house/until.ts";
import { Walk } from "../seeds/walk.ts";

const walk = new Walk();
const patienceMilliseconds = 120_000;

interface ShownSchedule {
  readonly id: string;
  readonly isEnded: boolean;
  readonly count: number;
  readonly lastTask: string | null;
  readonly next: number | null;
  readonly reason: string;
  readonly zone: string;
}

function scheduleIn(text: string): ShownSchedule {
  const { schedule } = JSON.parse(text) as { schedule?: ShownSchedule };
  if (schedule === undefined) throw new Error(text);
  return schedule;
}
const add = (...words: readonly string[]): ShownSchedule =>
  scheduleIn(walk.ambit("schedules", "add", "--json", ...words).out);
const show = (id: string): ShownSchedule => scheduleIn(walk.ambit("schedules", "show", id, "--json").out);
/** Long enough for `ambit schedules add` on a busy machine. */
const soonMilliseconds = 10_000;
const soon = (): string => `at ${new Date(Date.now() + soonMilliseconds).toISOString()}`;

interface ShownTask {
  readonly id: string;
  readonly state: string;
  readonly origin: { readonly kind: string; readonly id: string } | null;
}

function tasksOf(schedule: string): readonly ShownTask[] {
  const { tasks } = JSON.parse(walk.ambit("tasks", "list", "--json").out) as { tasks: readonly ShownTask[] };
  return tasks.filter(({ origin }) => origin?.id === schedule);
}

function outcomesOf(schedule: string): readonly string[] {
  const { out } = walk.ambit("log", "--kind", "control", "--text", "schedule", "--count", "1000", "--json");
  const entries = out
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { entry: { outcome: string; more: { schedule?: string } } }).entry);
  return entries.filter(({ more }) => more.schedule === schedule).map(({ outcome }) => outcome);
}

beforeAll(() => {
  walk.write({ ".ambit/org.yml": "name: Org\ndefaults: { client: cat }\nagents:\n  maker: { role: Maker }\n" });
  walk.trust();
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

describe("a schedule", () => {
  test("queues its task when its time has come and a runner is there, and each change is in the log", async () => {
    const { id } = add("maker", soon(), "--", "sh", "-c", "echo larks");
    expect(tasksOf(id)).toEqual([]);
    await pause(soonMilliseconds, "its time has to come");
    expect(tasksOf(id)).toEqual([]);
    walk.ambit("tasks", "work", "--once");
    expect(tasksOf(id)).toMatchObject([{ state: "done", origin: { kind: "schedule", id } }]);
    expect(show(id)).toMatchObject({ isEnded: true, count: 1, next: null });
    expect(outcomesOf(id)).toEqual(["schedule added", "schedule fired"]);
    walk.ambit("tasks", "work", "--once");
    expect(tasksOf(id)).toHaveLength(1);
  });
  test("has times in its own zone", () => {
    const { out } = walk.ambit("schedules", "add", "--json", "maker", "cron 0 9 * * * in Asia/Tokyo", "hello");
    const { schedule, times } = JSON.parse(out) as { schedule: ShownSchedule; times: readonly number[] };
    expect(schedule.zone).toBe("Asia/Tokyo");
    expect(times).toHaveLength(5);
    for (const time of times) expect(new Date(time).toISOString()).toMatch(/T00:00:00\.000Z$/);
  });
  test("that follows a task queues its own after that one is done", () => {
    const { task } = JSON.parse(walk.ambit("tasks", "add", "--json", "maker", "--", "true").out) as { task: ShownTask };
    const { id } = add("maker", `after ${task.id}`, "--", "echo", "then");
    walk.ambit("tasks", "work", "--once");
    expect(tasksOf(id)).toMatchObject([{ state: "done" }]);
    expect(show(id)).toMatchObject({ isEnded: true });
  });
  test("that follows a task which failed queues nothing, and says why", () => {
    const { task } = JSON.parse(walk.ambit("tasks", "add", "--json", "--retries", "0", "maker", "--", "false").out) as {
      task: ShownTask;
    };
    const { id } = add("maker", `after ${task.id}`, "--", "echo", "then");
    walk.ambit("tasks", "work", "--once");
    walk.ambit("tasks", "work", "--once");
    expect(tasksOf(id)).toEqual([]);
    expect(show(id)).toMatchObject({ isEnded: true, reason: `${task.id} is failed` });
  });
  test("that was removed queues nothing", async () => {
    const { id } = add("maker", soon(), "--", "true");
    expect(walk.ambit("schedules", "remove", id).status).toBe(0);
    await pause(soonMilliseconds, "its time has to come");
    walk.ambit("tasks", "work", "--once");
    expect(tasksOf(id)).toEqual([]);
    expect(walk.ambit("schedules", "remove", id)).toMatchObject({ status: 1 });
    expect(walk.ambit("schedules", "show", id).err).toContain("fix: ambit schedules list");
  });
});

test("two runners, one of them killed, and a killed daemon: each time has one task", async () => {
  const ids = Array.from({ length: 5 }, () => add("maker", soon(), "--", "true").id);
  const runner = (): ReturnType<typeof spawn> =>
    spawn(process.execPath, [join(root, "bin", "ambit"), "tasks", "work", "--jobs", "2"], {
      cwd: walk.folder,
      env: environment,
      stdio: "ignore",
    });
  const [first, second] = [runner(), runner()];
  try {
    expect(await holdsWithin(patienceMilliseconds, () => ids.some((id) => tasksOf(id).length > 0), 200)).toBe(true);
    first.kill("SIGKILL");
    const { pid } = JSON.parse(walk.ambit("daemon", "status", "--json").out) as { pid: number };
    process.kill(pid, "SIGKILL");
    const areDone = (): boolean => ids.every((id) => tasksOf(id).some(({ state }) => state === "done"));
    expect(await holdsWithin(patienceMilliseconds, areDone, 200)).toBe(true);
    for (const id of ids) {
      expect(tasksOf(id)).toHaveLength(1);
      expect(outcomesOf(id)).toEqual(["schedule added", "schedule fired"]);
    }
  } finally {
    second.kill("SIGTERM");
  }
}, 240_000);

describe("what is no schedule is refused:", () => {
  test.each([
    ["a word", "sometimes", 2, "every 30m"],
    ["a short interval", "every 1s", 2, "at least 10s"],
    ["no day of any year", "cron 0 0 31 2 *", 2, "no year has this day"],
    ["a zone that there is not", "cron 0 0 * * * in Moon/Base", 1, "there is no time zone Moon/Base"],
    ["a time in the past", "at 2020-01-01T00:00Z", 1, "is in the past, or never occurs"],
    ["a task that there is not", "after w_none", 1, "no task and no schedule w_none"],
  ])("%s", (_, when, status, words) => {
    const ran = walk.ambit("schedules", "add", "maker", when, "hello");
    expect(ran.status).toBe(status);
    expect(ran.err).toContain(words);
  });
  test.each([
    ["no words", ["maker", "every 1h"]],
    ["an agent that there is not", ["absent", "every 1h", "hello"]],
    ["another word for missed times", ["--missed", "twice", "maker", "every 1h", "hello"]],
  ])("%s", (_, words) => {
    expect(walk.ambit("schedules", "add", ...words).status).not.toBe(0);
  });
});
