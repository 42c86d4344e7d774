// Warm sandboxes: one owner, one plan, one generation, one ground. The sandbox of a command is identified by its namespace.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Plan } from "../../src/sandbox/plan/plan.ts";
import { pause } from "../house/pause.ts";
import {
  draftsIn,
  OWNER,
  ownFolder,
  planFor,
  type RunOptions,
  ranOf,
  removeFolder,
  run,
  sandboxesIn,
  segments,
  shell,
} from "./fixture.ts";
import { processesLeft, processesNaming } from "./leftovers.ts";

let folder = "";
let sandboxes: LinuxSandboxes;
let plan: Plan;
beforeEach(() => {
  folder = ownFolder();
  sandboxes = sandboxesIn(folder);
  plan = reading(folder);
});
afterEach(async () => {
  await sandboxes.end(null);
  const left = await processesLeft(folder);
  removeFolder(folder);
  expect(left).toEqual([]);
});

async function where(wanted: Plan = plan, asked: RunOptions = {}): Promise<string> {
  // The number of a closed namespace is reused; the start time of its first process is not.
  const told = await shell(sandboxes, wanted, "readlink /proc/self/ns/mnt; cut -d ' ' -f 22 /proc/1/stat", asked);
  expect(ranOf(told).ending).toEqual({ kind: "exited", status: 0 });
  return told.output;
}

/** Sandboxes are distinguished by their start time, which the kernel reports in ticks of ten milliseconds. */
const nextTick = (): Promise<void> => pause(30, "the kernel counts start times in ticks");

const untilIt = (holds: () => boolean): Promise<void> => expect.poll(holds, { timeout: 60_000 }).toBe(true);

describe("the same sandbox", () => {
  test("runs the next command of the same owner and plan", async () => {
    const first = await where();
    expect(await where()).toBe(first);
    expect(await where({ ...plan })).toBe(first);
  });

  test("after a command that failed, timed out, or never started", async () => {
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
    await nextTick();
    expect(await where()).not.toBe(first);
  });

  test.each<[string, (plan: Plan) => Plan]>([
    ["environment", (one) => ({ ...one, environment: [...one.environment, ["A", "b"]] })],
    ["limit", (one) => ({ ...one, limits: { ...one.limits, processes: one.limits.processes - 1 } })],
    ["mode", () => planFor(folder)],
  ])("for another %s in the plan", async (_what, change) => {
    expect(await where(change(plan))).not.toBe(await where());
  });

  test("for a command that runs beside another", async () => {
    const both = await Promise.all([where(), where()]);
    expect(both[0]).not.toBe(both[1]);
    expect(both).toContain(await where());
  });

  test("when the folder under the same name is another one", async () => {
    const project = `${folder}/project`;
    mkdirSync(project);
    const inside = reading(project);
    const first = await where(inside);
    expect(await where(inside)).toBe(first);
    renameSync(project, `${project}-old`);
    mkdirSync(project);
    writeFileSync(`${project}/new`, "");
    expect(await where(inside)).not.toBe(first);
    expect((await run(sandboxes, inside, ["ls"])).output).toBe("new\n");
  });
});

describe("a sandbox whose root is an overlay", () => {
  test.each<[string, () => Plan]>([
    ["a draft", () => planFor(folder)],
    ["read with a masked name", () => ({ ...plan, masked: [segments(`${folder}/.env`)] })],
  ])("runs one command, and sees what changed since the one before: %s", async (_what, make) => {
    writeFileSync(`${folder}/file`, "one\n");
    const wanted = make();
    const first = await where(wanted);
    expect((await shell(sandboxes, wanted, "cat file")).output).toBe("one\n");
    // Replaced, which a mounted overlay does not show.
    writeFileSync(`${folder}/fresh`, "two\n");
    renameSync(`${folder}/fresh`, `${folder}/file`);
    await nextTick();
    expect((await shell(sandboxes, wanted, "cat file; ls -A")).output).toBe("two\nfile\n");
    expect(await where(wanted)).not.toBe(first);
  });

  test("the next one is prepared meanwhile, and has not begun", async () => {
    await where(planFor(folder));
    await untilIt(() => natives() === 1 && bubblewraps() === 1);
    const [prepared] = processesNaming(folder).filter((one) => one.includes("ambit-native"));
    const mounts = readFileSync(`/proc/${Number.parseInt(prepared ?? "", 10)}/mountinfo`, "utf8");
    expect(mounts).not.toContain(" overlay ");
    expect(mounts).toContain(" /run/ambit/layers/lower ");
    expect(draftsIn(folder).list()).toHaveLength(1);
  });

  test("a prepared one is used: the command runs in a sandbox that was started before", async () => {
    await where(planFor(folder));
    await untilIt(() => natives() === 1 && bubblewraps() === 1);
    const [prepared] = processesNaming(folder).filter((one) => one.includes("ambit-native"));
    const begun = readFileSync(`/proc/${Number.parseInt(prepared ?? "", 10)}/stat`, "utf8").split(" ")[21];
    expect(await where(planFor(folder))).toContain(`${begun}\n`);
  });

  test("at most two are prepared for one key, and none is left with its draft when all end", async () => {
    await Promise.all(Array.from({ length: 6 }, () => shell(sandboxes, planFor(folder), "sleep 0.2")));
    await untilIt(() => bubblewraps() <= 2);
    await sandboxes.end(null);
    expect([processesNaming(folder), draftsIn(folder).list()]).toEqual([[], []]);
  });

  test("a prepared one that is killed is not used", async () => {
    await where(planFor(folder));
    await untilIt(() => natives() === 1 && bubblewraps() === 1);
    const prepared = processesNaming(folder).map((one) => Number.parseInt(one, 10));
    for (const one of processesNaming(folder))
      if (one.includes("ambit-native")) process.kill(Number.parseInt(one, 10), "SIGKILL");
    // Reaped, so that this process knows.
    await untilIt(() => prepared.every((pid) => !existsSync(`/proc/${pid}`)));
    expect((await shell(sandboxes, planFor(folder), "echo here")).output).toBe("here\n");
  });
});

describe("between two commands", () => {
  test("no process and no private file stays", async () => {
    await shell(sandboxes, planIn("private"), "setsid sleep 600 & touch /tmp/mine; mkdir -p /tmp/deep/er; exit 0");
    const told = await shell(sandboxes, planIn("private"), "ls -A /tmp; ls -d /proc/[0-9]* | wc -l");
    // Ours, the shell, ls and wc.
    expect(told.output).toMatch(/^home\n[234]\n$/);
  });

  test("a sandbox of an older generation is ended, not kept", async () => {
    await where();
    await where(plan, { owner: { ...OWNER, generation: 2 } });
    await untilIt(() => bubblewraps() === 1);
  });

  test("one that still runs when its generation ends is not used again", async () => {
    const newer = { ...OWNER, generation: 2 };
    let hasBegun = false;
    // The older one ends after a command of the newer generation, which starts later.
    const newerRan = async function* (): AsyncIterable<Uint8Array> {
      await untilIt(() => hasBegun);
      await where(plan, { owner: newer });
    };
    const output = (): void => {
      hasBegun = true;
    };
    const older = await shell(sandboxes, plan, "echo begun; cat", {
      input: newerRan(),
      sinks: { output, errors: () => {} },
    });
    expect(ranOf(older).ending).toEqual({ kind: "exited", status: 0 });
    await untilIt(() => bubblewraps() === 1);
  });

  test("one that was stopped by a signal from outside still ends", async () => {
    await where();
    for (const one of processesNaming(folder))
      if (one.includes("ambit-native sandbox")) process.kill(Number.parseInt(one, 10), "SIGSTOP");
    await sandboxes.end(null);
    expect(processesNaming(folder)).toEqual([]);
  });

  test("an idle sandbox ends after its timeout", async () => {
    const short = sandboxesIn(folder, { bounds: { idlePerKeyMax: 4, idleMax: 64, idleMilliseconds: 50 } });
    await shell(short, plan, "exit 0");
    expect(await processesLeft(folder)).toEqual([]);
  });

  test.each([
    ["one key", { idlePerKeyMax: 2, idleMax: 64 }, [OWNER, OWNER, OWNER, OWNER]],
    ["all", { idlePerKeyMax: 4, idleMax: 2 }, ["a", "b", "c", "d"].map((session) => ({ ...OWNER, session }))],
  ])("the number of idle ones for %s is limited", async (_what, bounds, owners) => {
    const few = sandboxesIn(folder, { bounds: { ...bounds, idleMilliseconds: 60_000 } });
    await Promise.all(owners.map((owner) => shell(few, plan, "sleep 0.2", { owner })));
    await untilIt(() => bubblewraps() === 2);
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

  test("ending it kills a running command", async () => {
    const running = shell(sandboxes, plan, "echo begun; sleep 600", {
      sinks: { output: () => void sandboxes.end(null), errors: () => {} },
    });
    expect(ranOf(await running).ending).toEqual({ kind: "signalled", signal: 9 });
  });
});

/** A plan whose private folder is /tmp itself: no folder of the host is mounted there. */
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

/** A root that is read-only and mounted as it is. */
function reading(path: string): Plan {
  return planFor(path, { root: { path: segments(path), mode: "ro" } });
}

/** Those that are pid 1 of a sandbox. */
function natives(): number {
  return processesNaming(folder).filter((one) => one.includes("ambit-native sandbox") && !one.includes("bwrap")).length;
}

/** Those that wait outside, one per sandbox. */
function bubblewraps(): number {
  return processesNaming(folder).filter((one) => one.includes("bwrap")).length;
}
