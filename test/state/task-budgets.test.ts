// Budgets of an org file over tasks: calls and seconds of an agent, a task and a team, for a day or for good.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { holdsWithin } from "../house/until.ts";
import { Walk } from "../seeds/walk.ts";

const walk = new Walk();

interface ShownTask {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly due: number;
  readonly reason: string;
}

function taskIn(text: string): ShownTask {
  const { task } = JSON.parse(text) as { task?: ShownTask };
  if (task === undefined) throw new Error(text);
  return task;
}
const add = (...words: readonly string[]): string => taskIn(walk.ambit("tasks", "add", "--json", ...words).out).id;
const show = (id: string): ShownTask => taskIn(walk.ambit("tasks", "show", id, "--json").out);
const run = (id: string): void => void walk.ambit("tasks", "run", id);
const ran = (...words: readonly string[]): ShownTask => {
  const id = add(...words);
  run(id);
  return show(id);
};

const ORG = [
  "name: Org",
  "defaults: { client: sh }",
  "budget: { totalCalls: 1000 }",
  "agents:",
  "  lead: { role: Lead, budget: { team: { dailyCalls: 3 } } }",
  "  one: { role: One, reportsTo: lead }",
  "  two: { role: Two, reportsTo: lead }",
  "  daily: { role: Daily, budget: { dailyCalls: 2 } }",
  "  total: { role: Total, budget: { totalCalls: 1 } }",
  "  none: { role: None, budget: { dailySeconds: 0 } }",
  "  slow: { role: Slow, budget: { totalSeconds: 2 } }",
  "  shared: { role: Shared, budget: { dailySeconds: 500 } }",
  "  task: { role: Task, budget: { perTaskCalls: 5 } }",
  "",
].join("\n");

beforeAll(() => {
  walk.write({ ".ambit/org.yml": ORG, "ok.sh": "echo ok\n", "sleep.sh": "echo began; sleep 60; echo ended\n" });
  walk.trust();
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

describe("a budget of calls", () => {
  test("for a day: what is over it waits for the next day, and costs no attempt", () => {
    expect(ran("daily", "ok.sh").state).toBe("done");
    expect(ran("daily", "ok.sh").state).toBe("done");
    const waiting = ran("daily", "ok.sh");
    expect(waiting).toMatchObject({ state: "queued", attempts: 0 });
    expect(waiting.reason).toContain("the daily budget of agent daily is used up");
    expect(waiting.due % 86_400_000).toBe(0);
    expect(waiting.due).toBeGreaterThan(Date.now());
  });
  test("counts calls outside of tasks, too", () => {
    expect(walk.call("daily", "memory_list").code).toBe("budget_exhausted");
    expect(walk.ambit("exec", "daily", "--", "true").status).not.toBe(0);
  });
  test("for good: what is over it fails with the reason", () => {
    expect(ran("total", "ok.sh").state).toBe("done");
    const over = ran("total", "ok.sh");
    expect(over.state).toBe("failed");
    expect(over.reason).toBe("budget_exhausted: the total budget of agent total is used up");
  });
  test("of a team is one for all of its members", () => {
    expect(ran("one", "ok.sh").state).toBe("done");
    expect(ran("two", "ok.sh").state).toBe("done");
    expect(ran("lead", "ok.sh").state).toBe("done");
    for (const agent of ["one", "two", "lead"])
      expect(ran(agent, "ok.sh").reason).toContain("the daily budget of team lead is used up");
  });
  test("is not raised by an edit that no person has seen", () => {
    walk.write({ ".ambit/org.yml": ORG.replace("totalCalls: 1 ", "totalCalls: 9 ") });
    expect(ran("total", "ok.sh").state).toBe("failed");
    walk.trust();
    expect(ran("total", "ok.sh").state).toBe("done");
  });
});

describe("a budget of seconds", () => {
  test("of zero starts nothing", () => {
    expect(ran("none", "ok.sh")).toMatchObject({ state: "queued", attempts: 0 });
  });
  test("ends a run that takes longer, and the next one does not start", () => {
    const id = add("slow", "sleep.sh");
    run(id);
    expect(show(id)).toMatchObject({ attempts: 1, state: "queued" });
    expect(show(id).reason).toContain("the total budget of agent slow is used up");
    const { out } = walk.ambit("tasks", "log", id);
    expect(out).toContain("began");
    expect(out).not.toContain("ended");
    expect(ran("slow", "ok.sh")).toMatchObject({ state: "failed", attempts: 1 });
  });
});

test("seconds that a run has reserved are not used up: another task waits a moment, and not for the next day", async () => {
  const first = add("shared", "sleep.sh");
  const runner = spawn(process.execPath, [join(root, "bin", "ambit"), "tasks", "run", first], {
    ...{ cwd: walk.folder, env: environment, stdio: "ignore" },
  });
  try {
    const isRunning = (): boolean => walk.ambit("tasks", "log", first).out.includes("began");
    expect(await holdsWithin(60_000, isRunning, 100)).toBe(true);
    const second = ran("shared", "ok.sh");
    expect(second).toMatchObject({ state: "queued", attempts: 0 });
    expect(second.reason).toBe("the daily budget of agent shared is reserved for runs that have not ended");
    expect(second.due).toBeLessThan(Date.now() + 60_000);
  } finally {
    walk.ambit("tasks", "cancel", first);
    runner.kill("SIGTERM");
  }
}, 120_000);

test("ambit org budgets shows what each budget has spent and what is left; org show has the limits", () => {
  expect(ran("task", "ok.sh").state).toBe("done");
  const { budgets } = JSON.parse(walk.ambit("org", "budgets", "--json").out) as {
    budgets: readonly { owner: string; period: string; unit: string; limit: number; spent: number; left: number }[];
  };
  const shown = (owner: string): object | undefined => budgets.find((one) => one.owner === owner);
  expect(shown("agent daily")).toMatchObject({ period: "daily", unit: "calls", limit: 2, spent: 2, left: 0 });
  expect(shown("team lead")).toMatchObject({ period: "daily", unit: "calls", limit: 3, spent: 3, left: 0 });
  expect(shown("org")).toMatchObject({ period: "total", unit: "calls", limit: 1000 });
  expect(shown("agent slow")).toMatchObject({ period: "total", unit: "seconds", limit: 2, left: 0 });
  expect(budgets.filter(({ owner }) => owner === "org")).toHaveLength(1);
  expect(shown("agent task")).toMatchObject({ period: "task", unit: "calls", limit: 5, spent: 1, left: 4 });
  const { out } = walk.ambit("org", "budgets");
  expect(out).toMatch(/agent daily\n {2}daily {4}2 of 2 calls, used up, resets at 20/);
  expect(walk.ambit("org", "show").out).toContain("lead  Lead  sh in .  team budget dailyCalls 3");
  expect(walk.ambit("org", "show").out).toContain("Org  budget totalCalls 1000");
});
