// Project folders as people have them: any name, any place, behind links. The intended folder is mounted.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  bubblewrapOf,
  changedBy,
  ownFolder,
  planFor,
  ranOf,
  removeFolder,
  sandboxEnvironment,
  sandboxesIn,
  shell,
} from "./fixture.ts";
import { processesLeft } from "./leftovers.ts";

let folder = "";
beforeEach(() => {
  folder = ownFolder();
});
afterEach(async () => {
  const left = await processesLeft(folder);
  removeFolder(folder);
  expect(left).toEqual([]);
});

const NAMES: readonly string[] = [
  "with spaces  in it",
  "Ünïcödé ordner 文件夹 🗂",
  "line\nbreak",
  "--bind",
  "-",
  "quote'\"$(touch x)`;&|",
  "back\\slash",
  "option,injection:lowerdir=\\,",
  join(...Array.from({ length: 15 }, (_, at) => `${at}-${"long".repeat(50)}`)),
];

describe("a command in a folder", () => {
  test.each(NAMES)("called %j reads and writes there", async (name) => {
    const project = join(folder, name);
    mkdirSync(project, { recursive: true });
    const sandboxes = sandboxesIn(folder);
    const told = await shell(sandboxes, planFor(project), "echo text > file && pwd");
    await sandboxes.end(null);
    expect([told.errors, told.output]).toEqual(["", `${project}\n`]);
    expect(readFileSync(join(changedBy(told, folder), "file"), "utf8")).toBe("text\n");
    expect(readdirSync(project)).toEqual([]);
  });

  test.skipIf(process.getuid?.() !== 0)("below /usr/local, which is otherwise read-only", async () => {
    const project = `/usr/local/ambit-sandbox-${process.pid}`;
    mkdirSync(project);
    const sandboxes = sandboxesIn(folder);
    try {
      const told = await shell(sandboxes, planFor(project), "echo text > file; echo no > ../beside");
      expect(ranOf(told).ending.kind).toBe("exited");
      expect(readFileSync(join(changedBy(told, folder), "file"), "utf8")).toBe("text\n");
      expect(existsSync("/usr/local/beside")).toBe(false);
    } finally {
      await sandboxes.end(null);
      rmSync(project, { recursive: true });
    }
  });
});

describe("a folder behind a link", () => {
  test("is refused by that name and runs by its own", async () => {
    mkdirSync(join(folder, "real", "project"), { recursive: true });
    symlinkSync("real", join(folder, "linked"));
    const sandboxes = sandboxesIn(folder);
    const { result } = await shell(sandboxes, planFor(join(folder, "linked", "project")), "touch file");
    expect(result).toMatchObject({ ok: false, refused: { code: "sandbox_unavailable" } });
    expect(existsSync(join(folder, "real", "project", "file"))).toBe(false);
    const told = await shell(sandboxes, planFor(join(folder, "real", "project")), "touch file");
    expect(readdirSync(changedBy(told, folder))).toEqual(["file"]);
    await sandboxes.end(null);
  });

  test("that does not exist is refused", async () => {
    const { result } = await shell(sandboxesIn(folder), planFor(join(folder, "none")), "true");
    expect(result).toMatchObject({ ok: false, refused: { code: "sandbox_unavailable" } });
  });
});

describe("a folder that is swapped while bubblewrap starts", () => {
  test.each(["another folder", "a link to a secret place"])("for %s is never run in", async (what) => {
    const project = join(folder, "project");
    const secret = join(folder, "secret");
    for (const path of [project, secret]) mkdirSync(path);
    writeFileSync(join(secret, "key"), "key");
    // Waits until the swap is done, then continues as the real one.
    const slow = join(folder, "bwrap");
    const ground = sandboxEnvironment();
    writeFileSync(
      slow,
      `#!/bin/sh\n: > ${folder}/started\nwhile [ ! -e ${folder}/swapped ]; do sleep 0.01; done\nexec ${bubblewrapOf(ground)} "$@"\n`,
      {
        mode: 0o755,
      },
    );
    const sandboxes = sandboxesIn(folder, {
      environment: { ...ground, backend: { kind: "namespaces", bubblewrap: slow } },
    });
    const running = shell(sandboxes, planFor(project), "touch ran; cat key");
    await expect.poll(() => existsSync(join(folder, "started")), { timeout: 60_000 }).toBe(true);
    renameSync(project, `${project}-old`);
    if (what === "another folder") mkdirSync(project);
    else symlinkSync(secret, project);
    writeFileSync(join(folder, "swapped"), "");
    const told = await running;
    await sandboxes.end(null);
    expect(told.result).toMatchObject({ ok: false, refused: { code: "sandbox_unavailable" } });
    expect(told.output).toBe("");
    expect([project, secret, `${project}-old`].map((path) => existsSync(join(path, "ran")))).toEqual([
      false,
      false,
      false,
    ]);
  });
});
