// Limits of a whole process tree, if this machine lets us create control groups; if not, the result says so.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ControlGroups } from "../../src/sandbox/linux/control-groups.ts";
import { groupFolders } from "../../src/sandbox/linux/group-folders.ts";
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Limits } from "../../src/sandbox/plan/plan.ts";
import { ownFolder, planFor, ranOf, removeFolder, sandboxesIn, shell } from "./fixture.ts";
import { processesLeft } from "./leftovers.ts";

const places = groupFolders();
const held = places.flatMap(({ holds }) => holds);
let folder = "";
let sandboxes: LinuxSandboxes;
beforeAll(() => {
  folder = ownFolder();
  sandboxes = sandboxesIn(folder, { groups: new ControlGroups(places) });
});
afterAll(async () => {
  await sandboxes.end(null);
  const left = await processesLeft(folder);
  removeFolder(folder);
  expect([left, ownGroups()]).toEqual([[], []]);
});

function ownGroups(): readonly string[] {
  return places.flatMap((place) => readdirSync(place.folder).filter((name) => name.includes(`-${process.pid}-`)));
}

function limited(limits: Partial<Limits>): ReturnType<typeof planFor> {
  const plan = planFor(folder);
  return { ...plan, limits: { ...plan.limits, ...limits } };
}

describe("a control group", () => {
  test("is named in the result, or that there is none", async () => {
    const { enforcement } = ranOf(await shell(sandboxes, limited({}), "exit 0"));
    const note = enforcement.find(({ axis }) => axis === "argv")?.note ?? "";
    expect(note).toContain(
      held.length === 0 ? "apply to each process only" : `of the whole process tree: ${held.join(", ")}`,
    );
  });

  test.skipIf(!held.includes("memory"))("limits memory: one page of many is too many, half is not", async () => {
    const plan = limited({ treeMemoryBytes: 67_108_864 });
    const hog = (bytes: number): string => `head -c ${bytes} /dev/zero | tail -c ${bytes} | wc -c`;
    expect((await shell(sandboxes, plan, hog(10_000_000))).output).toBe("10000000\n");
    expect((await shell(sandboxes, plan, hog(200_000_000))).output).not.toBe("200000000\n");
  });

  test.skipIf(!held.includes("processes"))("limits processes: forks beyond the limit fail", async () => {
    const script = "i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo all; kill $(jobs -p)";
    expect((await shell(sandboxes, limited({ processes: 20 }), script)).output).toBe("");
    expect((await shell(sandboxes, limited({ processes: 100 }), script)).output).toBe("all\n");
  });

  test("is removed with its sandbox", async () => {
    await shell(sandboxes, limited({ processes: 30 }), "exit 0");
    expect(ownGroups().length > 0).toBe(held.length > 0);
    await sandboxes.end(null);
    expect(ownGroups()).toEqual([]);
  });
});

describe("without a parent control group", () => {
  test("none is made, and no folder is created", async () => {
    expect(new ControlGroups([]).make({ treeMemoryBytes: 1, processes: 1 })).toBeNull();
    const nowhere = [{ folder: join(folder, "none"), version: 2, holds: ["memory"] }] as const;
    expect(new ControlGroups(nowhere).make({ treeMemoryBytes: 1, processes: 1 })).toBeNull();
    expect(existsSync(join(folder, "none"))).toBe(false);
  });
});
