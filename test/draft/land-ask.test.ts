// `land: ask` in a record or a configuration: nothing that a program writes lands before it is approved.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { DraftProject, WRITER } from "./project.ts";

describe.each(CALLERS)("as user %i", (user) => {
  let fixture: DraftProject;
  afterEach(() => fixture.end());

  test("in the record: every change waits, and lands once approved", () => {
    fixture = new DraftProject(user, WRITER.replace("sandbox: .", "sandbox: .\nland: ask"));
    fixture.write("old.txt", "before\n");
    const { changes, status } = fixture.shell("echo new > new.txt; rm old.txt");
    expect(status).toBe(0);
    expect(changes?.landed).toBe(0);
    expect(changes?.kept.map(({ path, code, reason }) => `${path} ${code} ${reason}`).sort()).toEqual([
      "new.txt approval_required waits for review",
      "old.txt approval_required waits for review",
    ]);
    expect([fixture.read("new.txt"), fixture.read("old.txt")]).toEqual([null, "before\n"]);
    expect(fixture.changes("land", changes?.draft ?? "", "--yes").status).toBe(0);
    expect([fixture.read("new.txt"), fixture.read("old.txt")]).toEqual(["new\n", null]);
  });

  test("in the project's configuration: for every agent, and its removal counts only once it is trusted", () => {
    fixture = new DraftProject(user);
    const config = join(fixture.project, ".ambit", "config.yml");
    writeFileSync(config, "land: ask\n");
    expect(fixture.shell("echo 1 > a.txt").changes?.kept.map(({ code }) => code)).toEqual(["approval_required"]);
    expect(fixture.ambit(["trust", "--yes"]).status).toBe(0);
    expect(fixture.shell("echo 1 > a.txt").changes?.landed).toBe(0);
    writeFileSync(config, "");
    expect(fixture.shell("echo 1 > a.txt").changes?.landed).toBe(0);
    expect(fixture.read("a.txt")).toBeNull();
    expect(fixture.ambit(["trust", "--yes"]).status).toBe(0);
    expect(fixture.shell("echo 1 > a.txt").changes?.landed).toBe(1);
    expect(fixture.read("a.txt")).toBe("1\n");
  });

  test("in the user's configuration: for every agent; with an invalid value nothing runs", () => {
    fixture = new DraftProject(user);
    const folder = join(fixture.base, "config", "ambit");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "config.yml"), "land: ask\n");
    fixture.own();
    expect(fixture.shell("echo 1 > a.txt").changes?.kept.map(({ path }) => path)).toEqual(["a.txt"]);
    writeFileSync(join(folder, "config.yml"), "land: asks\n");
    expect(fixture.ambit(["exec", "writer", "--shell", "--", "echo 1 > a.txt"]).status).toBe(125);
    expect(fixture.read("a.txt")).toBeNull();
  });
});
