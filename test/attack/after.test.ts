// After a command, and after its owner: no process it started is left, and the next command sees nothing it left.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pause } from "../house/pause.ts";
import type { Ambit } from "./ambit.ts";
import { callers } from "./callers.ts";
import { AttackFixture } from "./fixture.ts";
import type { Scene } from "./scene.ts";
import { processesOf, survivorsOf } from "./survivors.ts";
import { Warm } from "./warm.ts";

let fixture: AttackFixture;
beforeAll(() => {
  fixture = new AttackFixture();
});
afterAll(() => fixture.remove());

describe.each(callers())("a warm sandbox, as $caller", (who) => {
  let scene: Scene;
  let ambit: Ambit;
  let warm: Warm;

  beforeAll(async () => {
    ({ scene, ambit } = await fixture.scene(who));
    warm = await Warm.start(fixture, who, scene);
  });
  afterAll(async () => {
    await warm.end();
    await scene.end();
  });

  /** The file's content once two reads agree, or what differed. */
  async function grows(name: string): Promise<boolean> {
    const before = readFileSync(join(scene.root, name)).length;
    await pause(150, "a survivor writes to its file several times in it");
    return readFileSync(join(scene.root, name)).length > before;
  }

  test.each([
    ["leave-process=heartbeat", "heartbeat"],
    ["leave-churn=churn", "churn"],
  ])("a process that left its session and its parents is killed with the command: %s", async (word, name) => {
    expect((await warm.probe(word)).map(({ outcome }) => outcome)).toEqual(["open"]);
    expect(readFileSync(join(scene.root, name)).length).toBeGreaterThan(0);
    expect(await grows(name)).toBe(false);
    expect((await warm.probe("others")).map(({ how }) => how)).toEqual(["none"]);
  });

  test("what it left in /tmp is gone, however hard it is to remove", async () => {
    expect((await warm.probe("leave-files")).map(({ outcome }) => outcome)).toEqual(["open"]);
    expect((await warm.probe("files-left")).map(({ how }) => how)).toEqual(["none"]);
  });

  test("the init process of a warm sandbox is unchanged by every signal and message sent to it", async () => {
    const signals = [1, 2, 3, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 31, 34, 64];
    const sent = await warm.probe(...signals.map((signal) => `kill-init=${signal}`));
    expect(sent.filter(({ outcome, how }) => outcome !== "blocked" || how !== "ignored")).toEqual([]);
    expect(sent).toHaveLength(signals.length);
    expect((await warm.run(["/bin/sh", "-c", "echo still here"])).output).toBe("still here\n");
  });

  test("an argument of 128 KiB is refused by the kernel, and one byte less is not", async () => {
    expect((await warm.run(["/bin/echo", "x".repeat(131_071)])).output).toHaveLength(131_072);
    expect((await warm.run(["/bin/echo", "x".repeat(131_072)])).ending).toMatchObject({ kind: "unstarted" });
  });

  test("more arguments than a request or a frame holds are refused by us", async () => {
    const words = Array.from({ length: 12 }, () => "x".repeat(100_000));
    expect(await ambit.exec(["/bin/echo", ...words])).toMatchObject({ outcome: "refused", code: "invalid_input" });
    expect((await warm.run(["/bin/echo", ...words])).ending).toMatchObject({ code: "invalid_input" });
    expect((await warm.run(["/bin/echo", "still here"])).output).toBe("still here\n");
  });
});

describe.each(callers())("a command and its owner, as $caller", (who) => {
  let scene: Scene;
  let ambit: Ambit;
  /** The scene's process on the host. */
  let known: readonly number[];

  beforeAll(async () => {
    ({ scene, ambit } = await fixture.scene(who));
    known = processesOf(scene.folder);
  });
  afterAll(async () => {
    await scene.end();
  });

  test("a command that writes too much is killed", async () => {
    const ran = await ambit.exec(["/bin/sh", "-c", "yes"]);
    expect(ran).toMatchObject({ outcome: "ran", ending: { kind: "ended", because: "output" } });
    expect(await survivorsOf(scene.folder, known)).toEqual([]);
  });

  test("a command that takes too long is killed, with everything it started", async () => {
    const line = "(setsid sleep 300 &) ; sleep 300";
    const ran = await ambit.exec(["/bin/sh", "-c", line], { options: ["--timeout", "1"] });
    expect(ran).toMatchObject({ outcome: "ran", ending: { kind: "ended", because: "time" } });
    expect(await survivorsOf(scene.folder, known)).toEqual([]);
  });

  test("an owner that is killed takes all its processes along, at any time", async () => {
    const waits = [0, 5, 20, 40, 60, 80, 100, 120, 150, 200, 300, 500];
    for (const milliseconds of waits) {
      const child = ambit.start(["/bin/sh", "-c", "(setsid sleep 300 &) ; sleep 300"]);
      const ended = new Promise((resolve) => child.once("exit", resolve));
      await pause(milliseconds, "it is killed at different moments of its start");
      child.kill("SIGKILL");
      await ended;
    }
    expect(await survivorsOf(scene.folder, known)).toEqual([]);
  });
});
