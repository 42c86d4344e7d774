// The owner of a sandbox may be killed at any moment, in the first milliseconds of a start above all: nothing survives it.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ControlGroups } from "../../src/sandbox/linux/control-groups.ts";
import { groupFolders } from "../../src/sandbox/linux/group-folders.ts";
import { bundleProgram } from "../e2e/bundle.ts";
import { sizeFor } from "../house/long.ts";
import { pause } from "../house/pause.ts";
import { draftsIn, nativeProgram, ownFolder, removeFolder } from "./fixture.ts";
import { mountsNaming, processesLeft, processesNaming } from "./leftovers.ts";

const startsPerOwner = 8;
/** Each starts Node again; on a busy machine that takes time. */
const ownerMillisecondsMax = 20_000;
const owners = sizeFor(13, 125);

let folder = "";
let program: string;
beforeAll(async () => {
  folder = ownFolder();
  program = await bundleProgram("test/sandbox/owner.ts");
});
afterAll(() => {
  removeFolder(join(folder, "project"));
  removeFolder(folder);
});

/** Kills an owner this many milliseconds after it has printed this word. */
async function killedAfter(word: string, milliseconds: number, words: readonly string[]): Promise<void> {
  const [project, temporary] = [join(folder, "project"), join(folder, "temporary")];
  for (const path of [project, temporary]) mkdirSync(path, { recursive: true });
  const owner = spawn(process.execPath, [program, project, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { TMPDIR: temporary, AMBIT_NATIVE: nativeProgram() },
  });
  const gone = new Promise((resolve) => owner.once("close", resolve));
  for await (const said of owner.stdout) if (String(said).includes(word)) break;
  await pause(milliseconds, "it is killed at this moment of its work");
  owner.kill("SIGKILL");
  await gone;
}

describe("nothing is left of an owner that was killed", () => {
  test(
    `${owners * startsPerOwner} starts, killed within their first ten milliseconds`,
    async () => {
      const moments = fc.sample(fc.double({ min: 0, max: 10, noNaN: true }), owners);
      for (const moment of moments) await killedAfter("started", moment, [String(startsPerOwner)]);
      const project = join(folder, "project");
      expect([await processesLeft(project), mountsNaming(project)]).toEqual([[], []]);
      expect([readdirSync(join(folder, "temporary")), readdirSync(project)]).toEqual([[], []]);
      // Folders of drafts stay for the next owner to remove: nothing was changed in them.
      for (const id of draftsIn(project).list()) expect(draftsIn(project).isEmpty(id)).toBe(true);
    },
    ownerMillisecondsMax * owners,
  );

  test("in the middle of a command", async () => {
    await killedAfter("running", 0, ["2"]);
    expect(await processesLeft(join(folder, "project"))).toEqual([]);
  });

  test("and before that there was something to find: the search works", async () => {
    const project = join(folder, "project");
    const owner = spawn(process.execPath, [program, project, "1"], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { AMBIT_NATIVE: nativeProgram() },
    });
    for await (const said of owner.stdout) if (String(said).includes("running")) break;
    const found = processesNaming(project);
    owner.kill("SIGKILL");
    // The owner itself, bubblewrap, our program and the shell; whether `sleep` runs yet is not certain.
    expect(found.length).toBeGreaterThanOrEqual(4);
    expect(await processesLeft(project)).toEqual([]);
  });

  test("nor of one that exits normally with a warm sandbox: it does not keep the process alive", async () => {
    const project = join(folder, "project");
    const owner = spawn(process.execPath, [program, project, "1", "single", "leave"], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { AMBIT_NATIVE: nativeProgram() },
    });
    expect(await new Promise((resolve) => owner.once("close", resolve))).toBe(0);
    expect(await processesLeft(project)).toEqual([]);
  });

  test("its control groups are removed when the next owner starts", async () => {
    const ours = (): readonly string[] =>
      groupFolders().flatMap(({ folder: place }) => readdirSync(place).filter((name) => name.includes(`-${killed}-`)));
    const owner = spawn(process.execPath, [program, join(folder, "project"), "2", "groups"], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { AMBIT_NATIVE: nativeProgram() },
    });
    const killed = owner.pid;
    const gone = new Promise((resolve) => owner.once("close", resolve));
    for await (const said of owner.stdout) if (String(said).includes("running")) break;
    owner.kill("SIGKILL");
    await gone;
    expect(await processesLeft(join(folder, "project"))).toEqual([]);
    new ControlGroups(groupFolders());
    expect(ours()).toEqual([]);
  });
});
