// Tasks through the built program: durable, at most one run at a time, and resumed after every kill.
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { sizeFor } from "../house/long.ts";
import { holdsWithin } from "../house/until.ts";
import { Walk } from "../seeds/walk.ts";

const walk = new Walk();
const patienceMilliseconds = 40_000;

interface ShownTask {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly reason: string;
}

function taskIn(text: string): ShownTask {
  const { task } = JSON.parse(text) as { task?: ShownTask };
  if (task === undefined) throw new Error(text);
  return task;
}
const add = (...words: readonly string[]): string => taskIn(walk.ambit("tasks", "add", "--json", ...words).out).id;
const show = (id: string): ShownTask => taskIn(walk.ambit("tasks", "show", id, "--json").out);

interface ShownEntry {
  readonly outcome: string;
  readonly agent: string;
  readonly more: { readonly task?: string };
}

/** The changes of tasks, in the order of the log. */
function changes(): readonly ShownEntry[] {
  const { out } = walk.ambit("log", "--kind", "control", "--text", "task", "--count", "10000", "--json");
  const lines = out.trim().split("\n");
  return lines.map((line) => (JSON.parse(line) as { entry: ShownEntry }).entry);
}

function statesOf(id: string): readonly string[] {
  return changes()
    .filter(({ more }) => more.task === id)
    .map(({ outcome }) => outcome.replace("task ", ""));
}

async function until(id: string, state: string): Promise<ShownTask> {
  let task = show(id);
  const isThere = await holdsWithin(
    patienceMilliseconds,
    () => {
      task = show(id);
      return task.state === state;
    },
    100,
  );
  if (!isThere) throw new Error(`the task is ${task.state}: ${task.reason}`);
  return task;
}

function runner(...words: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<number | null> } {
  const child = spawn(process.execPath, [join(root, "bin", "ambit"), "tasks", "work", ...words], {
    cwd: walk.folder,
    env: environment,
    stdio: "ignore",
  });
  return { child, ended: new Promise((over) => child.on("exit", (status) => over(status))) };
}

function daemonPid(): number {
  return (JSON.parse(walk.ambit("daemon", "status", "--json").out) as { pid: number }).pid;
}

/** Whether a process of this machine has these words as its command line. */
function isRunning(words: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim() === words;
    } catch {
      return false;
    }
  });
}

beforeAll(() => {
  walk.write({
    ".ambit/org.yml": [
      "name: Org",
      "defaults: { client: cat }",
      "agents:",
      "  maker: { role: Maker }",
      "  other: { role: Other }",
      "  junior: { role: Junior, capabilities: { code: deny } }",
      "",
    ].join("\n"),
  });
  walk.trust();
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

describe("a task", () => {
  test("runs a program in its agent's sandbox; its output is kept and found; each state is in the log", () => {
    const id = add("maker", "--", "sh", "-c", "echo larks; echo made > made.txt");
    expect(show(id).state).toBe("queued");
    expect(walk.ambit("tasks", "work", "--once").status).toBe(0);
    expect(show(id)).toMatchObject({ state: "done", attempts: 1 });
    expect(walk.ambit("tasks", "log", id).out).toBe("larks\n");
    expect(walk.ambit("tasks", "log", "--grep", "lark").out).toBe(`${id} run 1: larks\n`);
    expect(walk.ambit("tasks", "log", id, "--grep", "sparrow").out).toBe("");
    expect(walk.read("made.txt")).toBe("made\n");
    expect(statesOf(id)).toEqual(["queued", "running", "done"]);
  });
  test("is watched until it is over, also if it was over before", () => {
    const id = add("maker", "--", "true");
    walk.ambit("tasks", "work", "--once");
    expect(walk.ambit("tasks", "watch", id)).toMatchObject({ status: 0, out: expect.stringContaining(`${id}  done`) });
    expect(walk.ambit("tasks", "watch", "w_none")).toMatchObject({ status: 1, err: expect.stringContaining("w_none") });
  });
  test("with words of several lines is listed on one line", () => {
    const id = add("maker", "first\n\nsecond");
    expect(walk.ambit("tasks", "list").out).toMatch(new RegExp(`^${id} .* first second$`, "m"));
    walk.ambit("tasks", "cancel", id);
  });
  test("without words is refused, also if they are blank", () => {
    for (const words of ["", " ", "\t\n"]) expect(walk.ambit("tasks", "add", "maker", words).status).toBe(2);
  });
  test("of an agent without the capability is denied, and is not tried again", () => {
    const id = add("junior", "--", "sh", "-c", "echo x > denied.txt");
    walk.ambit("tasks", "work", "--once");
    expect(show(id)).toMatchObject({ state: "failed", attempts: 1 });
    expect(walk.exists("denied.txt")).toBe(false);
  });
  test("that fails is run again until its attempts are used up, and again when a person says so", () => {
    const id = add("--retries", "1", "maker", "--", "false");
    expect(walk.ambit("tasks", "run", id).status).toBe(1);
    expect(show(id)).toMatchObject({ state: "queued", attempts: 1, reason: "status 1" });
    walk.ambit("tasks", "work", "--once");
    expect(show(id)).toMatchObject({ state: "failed", attempts: 2, reason: "status 1" });
    walk.ambit("tasks", "retry", id);
    expect(show(id)).toMatchObject({ state: "queued", attempts: 0 });
    walk.ambit("tasks", "cancel", id);
    expect(show(id).state).toBe("cancelled");
    expect(walk.ambit("tasks", "run", id)).toMatchObject({ status: 1 });
    expect(walk.ambit("tasks", "cancel", id).err).toContain("is cancelled now");
  });
  test("is ended at its timeout and at its deadline", () => {
    const slow = add("--retries", "0", "--timeout", "1", "maker", "--", "sleep", "60");
    const soon = new Date(Date.now() + 4000).toISOString();
    const late = add("--deadline", soon, "maker", "--", "sleep", "60");
    walk.ambit("tasks", "work", "--once", "--jobs", "2");
    expect(show(slow)).toMatchObject({ state: "failed", reason: "it exceeded its timeout" });
    expect(show(late).state).toBe("failed");
    expect(show(late).reason).toContain("its deadline passed");
  });
  test("that is cancelled while it runs is ended", async () => {
    const id = add("maker", "--", "sleep", "3571");
    const { child, ended } = runner();
    await until(id, "running");
    walk.ambit("tasks", "cancel", id);
    expect(show(id).state).toBe("cancelled");
    await gone("sleep 3571");
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(statesOf(id)).toEqual(["queued", "running", "cancelled"]);
  });
  test("whose changes conflict with newer ones is run again on those", async () => {
    walk.write({ "count.txt": "0\n" });
    const slow = add("maker", "--", "sh", "-c", "cat count.txt > /dev/null; sleep 2; echo a >> count.txt");
    const { child, ended } = runner();
    await until(slow, "running");
    walk.write({ "count.txt": "changed\n" });
    await until(slow, "done");
    child.kill("SIGTERM");
    await ended;
    expect(walk.read("count.txt")).toBe("changed\na\n");
  });
});

describe("a runner", () => {
  test(
    "shares tasks with a second one: each is run once, and agents take turns",
    async () => {
      const count = sizeFor(6, 1000);
      const ids = Array.from({ length: count }, (_, at) => {
        const agent = at < count - 2 ? "maker" : "other";
        return add(agent, "--", "sh", "-c", `echo ${at} > once-${at}.txt; echo ran ${at}`);
      });
      await Promise.all([runner("--once", "--jobs", "2").ended, runner("--once", "--jobs", "2").ended]);
      expect(ids.map((id) => show(id)).map(({ state, attempts }) => `${state} ${attempts}`)).toEqual(
        ids.map(() => "done 1"),
      );
      expect(ids.map((_, at) => walk.read(`once-${at}.txt`))).toEqual(ids.map((_, at) => `${at}\n`));
      // The two of the other agent came last, and were not run last.
      const started = changes().filter(
        ({ outcome, more }) => outcome === "task running" && ids.includes(more.task ?? ""),
      );
      expect(started.slice(0, 4).some(({ agent }) => agent === "other")).toBe(true);
    },
    sizeFor(60_000, 1_200_000),
  );
  test("that is stopped ends its programs, and the tasks are queued without a lost attempt", async () => {
    const id = add("maker", "--", "sleep", "3572");
    const { child, ended } = runner();
    await until(id, "running");
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(show(id)).toMatchObject({ state: "queued", attempts: 0, reason: "its runner was stopped" });
    await gone("sleep 3572");
    walk.ambit("tasks", "cancel", id);
  });
  test("that is killed leaves no program behind, and the next one resumes", async () => {
    const id = add("maker", "--", "sh", "-c", "test -e go.txt || sleep 3573");
    const { child, ended } = runner();
    await until(id, "running");
    child.kill("SIGKILL");
    await ended;
    expect(await until(id, "queued")).toMatchObject({ attempts: 1, reason: "its runner was lost" });
    await gone("sleep 3573");
    walk.write({ "go.txt": "" });
    await runner("--once").ended;
    expect(statesOf(id)).toEqual(["queued", "running", "queued", "running", "done"]);
  });
  test("goes on after the daemon was killed", async () => {
    walk.ambit("tasks", "add", "maker", "--", "true");
    const id = add("maker", "--", "sh", "-c", "test -e on.txt || sleep 3574");
    const { ended } = runner("--once");
    await until(id, "running");
    process.kill(daemonPid(), "SIGKILL");
    walk.write({ "on.txt": "" });
    expect(await ended).toBe(0);
    expect(statesOf(id)).toEqual(["queued", "running", "queued", "running", "done"]);
    await gone("sleep 3574");
  });
});

async function gone(word: string): Promise<void> {
  if (!(await holdsWithin(patienceMilliseconds, () => !isRunning(word)))) throw new Error(`${word} still runs`);
}
