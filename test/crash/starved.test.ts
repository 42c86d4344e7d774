// No disk space, no write permission, no descriptors: refused with the one code, the process survives, and nothing is lost.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { ownFolder, type Ran, removeFolder, start, writer } from "./child.ts";
import { inspect } from "./inspect.ts";

const isLinux = process.platform === "linux";

let program: string;
let folder = "";
beforeAll(async () => {
  [program, folder] = [await writer(), ownFolder()];
  if (!isLinux) return;
  for (const each of ["bwrap", "prlimit"])
    if (spawnSync(each, ["--version"]).status !== 0)
      throw new Error(`${each} is not installed, so a full disk cannot be tried: install bubblewrap and util-linux`);
});
afterAll(() => {
  removeFolder(folder);
});

const linesOf = (ran: Ran, word: string): readonly string[] => ran.said.filter((line) => line.startsWith(`${word} `));
const codesOf = (ran: Ran, word: string): ReadonlySet<string> =>
  new Set(linesOf(ran, word).map((line) => line.split(" ").at(-1) ?? ""));

function expectAlive(ran: Ran, last: string | RegExp): void {
  expect([ran.status, ran.errors]).toEqual([0, ""]);
  expect(ran.said.at(-1)).toMatch(last);
}

test.runIf(isLinux)("a full disk: refused until there is room again, and nothing is lost", async () => {
  const mount = join(folder, "full");
  mkdirSync(mount);
  const before = ["bwrap", "--dev-bind", "/", "/", "--size", String(5 * 1024 * 1024), "--tmpfs", mount];
  const ran = await start(program, join(mount, "state"), { scene: "full", count: 40 }, before).ended;
  expectAlive(ran, /^problems \[\] \d+$/);
  const [until, after] = [ran.said.slice(0, ran.said.indexOf("full")), ran.said.slice(ran.said.indexOf("full"))];
  expect(until.filter((line) => line.startsWith("kept ")).length).toBeGreaterThan(20);
  expect(until.filter((line) => line.startsWith("refused "))).toHaveLength(40);
  expect([...codesOf(ran, "refused")]).toEqual(["audit_unavailable"]);
  expect(after.filter((line) => line.startsWith("kept "))).toHaveLength(5);
});

test.runIf(isLinux)(
  "the disk of the second copy is full: denied until there is room, and the copy is complete",
  async () => {
    const mount = join(folder, "copy");
    mkdirSync(mount);
    const before = ["bwrap", "--dev-bind", "/", "/", "--size", String(2 * 1024 * 1024), "--tmpfs", mount];
    const ran = await start(program, join(folder, "copied"), { scene: "copied", name: mount, count: 20 }, before).ended;
    expectAlive(ran, /^copy \[\] 0$/);
    const [until, after] = [ran.said.slice(0, ran.said.indexOf("full")), ran.said.slice(ran.said.indexOf("full"))];
    expect(until.filter((line) => line.startsWith("kept ")).length).toBeGreaterThan(20);
    expect(until.filter((line) => line.startsWith("refused "))).toHaveLength(20);
    expect([...codesOf(ran, "refused")]).toEqual(["audit_unavailable"]);
    // Only entries in flight when the disk was full were written here and not executed.
    expect(until.filter((line) => line.startsWith("unheard "))).toHaveLength(1);
    expect(until.some((line) => line.startsWith("problem ") && line.includes("no space left on device"))).toBe(true);
    expect(after.filter((line) => line.startsWith("kept "))).toHaveLength(5);
  },
);

test.runIf(isLinux)("at the file size limit: the same", async () => {
  const state = join(folder, "small");
  const orders = { callers: 4, count: 200, refusedMilliseconds: 5 };
  const ran = await start(program, state, orders, ["prlimit", "--fsize=1500000"]).ended;
  expectAlive(ran, "ended");
  expect(linesOf(ran, "kept").length).toBeGreaterThan(20);
  expect([...codesOf(ran, "refused")]).toEqual(["audit_unavailable"]);
  const found = await inspect(state, root, ran.said);
  expect(found).toMatchObject({ problems: [], untold: 0 });
});

describe.runIf(isLinux)("a folder that is not writable", () => {
  const readOnly = (path: string): readonly string[] => ["bwrap", "--dev-bind", "/", "/", "--ro-bind", path, path];

  test("with a store in it: nothing is opened, nothing is decided, nothing is lost", async () => {
    const state = join(folder, "shut");
    const first = await start(program, state, { count: 5 }).ended;
    expectAlive(first, "ended");
    const ran = await start(program, state, { scene: "shut", count: 3 }, readOnly(state)).ended;
    expectAlive(ran, "alive");
    expect(ran.said.slice(0, -1)).toEqual(Array.from({ length: 3 }, () => "closed audit_unavailable"));
    expect(await inspect(state, root, first.said)).toMatchObject({ problems: [], untold: 0 });
  });

  test("without one", async () => {
    const place = join(folder, "nothing");
    mkdirSync(place);
    const ran = await start(program, join(place, "state"), { scene: "shut", count: 2 }, readOnly(place)).ended;
    expect(ran.said).toEqual(["closed audit_unavailable", "closed audit_unavailable", "alive"]);
  });
});

test.runIf(isLinux)("no descriptors left: open files continue, opening is refused, until there are some", async () => {
  const state = join(folder, "descriptors");
  const ran = await start(program, state, { scene: "descriptors" }, ["prlimit", "--nofile=64:64"]).ended;
  expectAlive(ran, "alive");
  expect(ran.said).toEqual([
    "taken",
    "kept decision open 1",
    "closed audit_unavailable",
    "refused decision lost audit_unavailable",
    "kept decision again 2",
    "alive",
  ]);
  expect(await inspect(state, root, ran.said)).toMatchObject({ problems: [], untold: 0 });
});
