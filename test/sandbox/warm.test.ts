// Warm sandboxes: one owner, one plan, one generation, one ground. Which sandbox ran a command is told by its namespace.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LinuxSandboxes } from "../../src/node/sandbox/linux-sandboxes.ts";
import type { Plan } from "../../src/sandbox/plan.ts";
import {
  type Asked,
  OWNER,
  ownFolder,
  planFor,
  ranOf,
  removeFolder,
  run,
  sandboxesIn,
  segments,
  shell,
} from "./ground.ts";
import { processesLeft, processesNaming } from "./leftovers.ts";

let folder = "";
let sandboxes: LinuxSandboxes;
let plan: Plan;
beforeEach(() => {
  folder = ownFolder();
  sandboxes = sandboxesIn(folder);
  plan = planFor(folder);
});
afterEach(async () => {
  await sandboxes.end(null);
  const left = await processesLeft(folder);
  removeFolder(folder);
  removeFolder(`${folder}-aside`);
  expect(left).toEqual([]);
});

async function where(wanted: Plan = plan, asked: Asked = {}): Promise<string> {
  // The number of a namespace that is gone is given to the next one; when its first process began is not.
  const told = await shell(sandboxes, wanted, "readlink /proc/self/ns/mnt; cut -d ' ' -f 22 /proc/1/stat", asked);
  expect(ranOf(told).ending).toEqual({ kind: "exited", status: 0 });
  return told.output;
}

describe("the same sandbox", () => {
  test("runs the next command of the same owner and plan", async () => {
    const first = await where();
    expect(await where()).toBe(first);
    expect(await where({ ...plan })).toBe(first);
  });

  test("after a command that failed, was stopped by its time, or never started", async () => {
    const limited = { ...plan, limits: { ...plan.limits, wallMilliseconds: 2_000 } };
    const first = await where(limited);
    await shell(sandboxes, limited, "exit 9");
    await shell(sandboxes, limited, "sleep 600");
    await run(sandboxes, limited, ["no-such-program"]);
    expect(await where(limited)).toBe(first);
  });
});

describe("another sandbox", () => {
  test.each([
    ["for another agent", { owner: { ...OWNER, agent: "other" } }],
    ["for another session", { owner: { ...OWNER, session: "other" } }],
    ["for another generation", { owner: { ...OWNER, generation: 2 } }],
  ])("%s", async (_why, asked) => {
    const first = await where(plan, asked);
    await pause(30);
    expect(await where()).not.toBe(first);
  });

  test.each<[string, (plan: Plan) => Plan]>([
    ["environment", (one) => ({ ...one, environment: [...one.environment, ["A", "b"]] })],
    ["limit", (one) => ({ ...one, limits: { ...one.limits, processes: one.limits.processes - 1 } })],
    ["mode", (one) => ({ ...one, root: one.root === null ? null : { ...one.root, mode: "ro" } })],
  ])("for another %s in the plan", async (_what, change) => {
    expect(await where(change(plan))).not.toBe(await where());
  });

  test("for a command beside another one", async () => {
    const both = await Promise.all([where(), where()]);
    expect(both[0]).not.toBe(both[1]);
    expect(both).toContain(await where());
  });

  test("when the folder under the same name is another one", async () => {
    const project = `${folder}/project`;
    mkdirSync(project);
    const inside = planFor(project);
    const first = await where(inside);
    expect(await where(inside)).toBe(first);
    renameSync(project, `${project}-old`);
    mkdirSync(project);
    writeFileSync(`${project}/new`, "");
    expect(await where(inside)).not.toBe(first);
    expect((await run(sandboxes, inside, ["ls"])).output).toBe("new\n");
  });

  test("when a pinned name became another file meanwhile", async () => {
    const kept = `${folder}/kept`;
    writeFileSync(kept, "one");
    const pinned: Plan = {
      ...plan,
      pinned: [{ base: segments(folder), pins: [{ path: ["kept"], action: "readonly", absent: "leave" }] }],
    };
    const first = await where(pinned);
    // A person edits it in place, which is nobody's business; then it is replaced.
    writeFileSync(kept, "two");
    expect(await where(pinned)).toBe(first);
    writeFileSync(`${kept}-new`, "three");
    renameSync(`${kept}-new`, kept);
    expect(await where(pinned)).not.toBe(first);
    expect((await shell(sandboxes, pinned, "echo four > kept; cat kept")).output).toBe("three");
  });
});

describe("between two commands", () => {
  test("nothing runs on, and nothing private stays", async () => {
    await shell(sandboxes, planIn("private"), "setsid sleep 600 & touch /tmp/mine; mkdir -p /tmp/deep/er; exit 0");
    const told = await shell(sandboxes, planIn("private"), "ls -A /tmp; ls -d /proc/[0-9]* | wc -l");
    // Ours, the shell, ls and wc.
    expect(told.output).toMatch(/^home\n[234]\n$/);
  });

  test("an older generation's sandbox is ended, not kept", async () => {
    await where();
    await where(plan, { owner: { ...OWNER, generation: 2 } });
    for (let tries = 0; tries < 200 && bubblewraps() > 1; tries++) await pause(50);
    expect(bubblewraps()).toBe(1);
  });

  test("one that still runs when its generation is over is not used again", async () => {
    const newer = { ...OWNER, generation: 2 };
    const [older] = await Promise.all([
      shell(sandboxes, plan, "echo begun; sleep 0.5"),
      pause(100).then(() => where(plan, { owner: newer })),
    ]);
    expect(ranOf(older).ending).toEqual({ kind: "exited", status: 0 });
    for (let tries = 0; tries < 200 && bubblewraps() > 1; tries++) await pause(50);
    expect(bubblewraps()).toBe(1);
  });

  test("one that was stopped by a signal from outside ends all the same", async () => {
    await where();
    for (const one of processesNaming(folder))
      if (one.includes("ambit-native sandbox")) process.kill(Number.parseInt(one, 10), "SIGSTOP");
    await sandboxes.end(null);
    expect(processesNaming(folder)).toEqual([]);
  });

  test("a sandbox that nobody needs for a while ends by itself", async () => {
    const short = sandboxesIn(folder, { bounds: { idlePerKeyMax: 4, idleMax: 64, idleMilliseconds: 50 } });
    await shell(short, plan, "exit 0");
    expect(await processesLeft(folder)).toEqual([]);
  });

  test.each([
    ["one key", { idlePerKeyMax: 2, idleMax: 64 }, [OWNER, OWNER, OWNER, OWNER]],
    ["all", { idlePerKeyMax: 4, idleMax: 2 }, ["a", "b", "c", "d"].map((session) => ({ ...OWNER, session }))],
  ])("no more than so many wait for %s", async (_what, bounds, owners) => {
    const few = sandboxesIn(folder, { bounds: { ...bounds, idleMilliseconds: 60_000 } });
    await Promise.all(owners.map((owner) => shell(few, plan, "sleep 0.2", { owner })));
    for (let tries = 0; tries < 200 && bubblewraps() > 2; tries++) await pause(50);
    expect(bubblewraps()).toBe(2);
    await few.end(null);
  });

  test("ending one agent's leaves the other's", async () => {
    const other = { ...OWNER, agent: "other" };
    await where();
    const kept = await where(plan, { owner: other });
    await sandboxes.end(OWNER.agent);
    expect(bubblewraps()).toBe(1);
    expect(await where(plan, { owner: other })).toBe(kept);
  });

  test("ending takes a running command with it", async () => {
    const running = shell(sandboxes, plan, "echo begun; sleep 600", {
      sinks: { output: () => void sandboxes.end(null), errors: () => {} },
    });
    expect(ranOf(await running).ending).toEqual({ kind: "signalled", signal: 9 });
  });
});

/** A plan whose private folder is /tmp itself: no folder of the host lies there. */
function planIn(name: string): Plan {
  return {
    ...planFor(folder),
    root: null,
    directory: ["tmp"],
    environment: [
      ["PATH", "/usr/bin:/bin"],
      ["NAME", name],
    ],
  };
}

/** Those that wait outside, one a sandbox. */
function bubblewraps(): number {
  return processesNaming(folder).filter((one) => one.includes("bwrap")).length;
}
