// `land: ask` in a record or a configuration: nothing that a program writes lands before it is approved.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { DraftWorld, WRITER } from "./world.ts";

describe.each(CALLERS)("as user %i", (user) => {
  let world: DraftWorld;
  afterEach(() => world.end());

  test("in the record: every change waits, and lands once approved", () => {
    world = new DraftWorld(user, WRITER.replace("sandbox: .", "sandbox: .\nland: ask"));
    world.write("old.txt", "before\n");
    const { changes, status } = world.shell("echo new > new.txt; rm old.txt");
    expect(status).toBe(0);
    expect(changes?.landed).toBe(0);
    expect(changes?.kept.map(({ path, code, reason }) => `${path} ${code} ${reason}`).sort()).toEqual([
      "new.txt approval_required waits for review",
      "old.txt approval_required waits for review",
    ]);
    expect([world.read("new.txt"), world.read("old.txt")]).toEqual([null, "before\n"]);
    expect(world.changes("land", changes?.draft ?? "", "--yes").status).toBe(0);
    expect([world.read("new.txt"), world.read("old.txt")]).toEqual(["new\n", null]);
  });

  test("in the project's configuration: for every agent, and its removal counts only once it is trusted", () => {
    world = new DraftWorld(user);
    const config = join(world.project, ".ambit", "config.yml");
    writeFileSync(config, "land: ask\n");
    expect(world.shell("echo 1 > a.txt").changes?.kept.map(({ code }) => code)).toEqual(["approval_required"]);
    expect(world.ambit(["trust", "--yes"]).status).toBe(0);
    expect(world.shell("echo 1 > a.txt").changes?.landed).toBe(0);
    writeFileSync(config, "");
    expect(world.shell("echo 1 > a.txt").changes?.landed).toBe(0);
    expect(world.read("a.txt")).toBeNull();
    expect(world.ambit(["trust", "--yes"]).status).toBe(0);
    expect(world.shell("echo 1 > a.txt").changes?.landed).toBe(1);
    expect(world.read("a.txt")).toBe("1\n");
  });

  test("in the user's configuration: for every agent; with an invalid value nothing runs", () => {
    world = new DraftWorld(user);
    const folder = join(world.base, "config", "ambit");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "config.yml"), "land: ask\n");
    world.own();
    expect(world.shell("echo 1 > a.txt").changes?.kept.map(({ path }) => path)).toEqual(["a.txt"]);
    writeFileSync(join(folder, "config.yml"), "land: asks\n");
    expect(world.ambit(["exec", "writer", "--shell", "--", "echo 1 > a.txt"]).status).toBe(125);
    expect(world.read("a.txt")).toBeNull();
  });
});
