// Named Unix sockets with trees of the host bound into the sandbox: a process of the host listens in one before a program starts,
// and in another one while it runs. No connection reaches either, by any name.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pause } from "../house/pause.ts";
import type { Ambit } from "./ambit.ts";
import { outcomesIn } from "./attempt.ts";
import { callers } from "./callers.ts";
import { AttackFixture } from "./fixture.ts";
import { CONFIGURATION, type Scene } from "./scene.ts";

let fixture: AttackFixture;
beforeAll(() => {
  fixture = new AttackFixture();
});
afterAll(() => fixture.remove());

describe.each(callers())("as $caller", (who) => {
  let scene: Scene;
  let ambit: Ambit;
  let tree: string;
  let visits = 0;
  const servers: Server[] = [];

  /** A listener of the host that every user may connect to. */
  async function listens(path: string): Promise<void> {
    const server = createServer((socket) => {
      visits++;
      socket.destroy();
    });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
    chmodSync(path, 0o777);
    servers.push(server);
  }

  beforeAll(async () => {
    ({ scene, ambit } = await fixture.scene(who));
    tree = join(scene.folder, "tree");
    mkdirSync(tree);
    fixture.give(tree, who);
    writeFileSync(join(scene.folder, "config", "ambit", "config.yml"), `${CONFIGURATION}runtime: [${tree}]\n`);
    await listens(join(tree, "before.sock"));
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    await scene.end();
  });

  test.each([
    ["unix-late", ["EACCES"]],
    ["unix-by-folder", ["EACCES"]],
    ["unix-by-link", ["EACCES"]],
    // The process that resolves it does not have the descriptor, and follows no name of the kernel's to one.
    ["unix-by-proc", ["ENOENT", "ELOOP"]],
    ["unix-not-dumpable", ["EPERM"]],
  ])("a listener in a bound tree: %s fails with %s", async (word, codes) => {
    const { output } = await ambit.probe([`${word}=${join(tree, "before.sock")}`]);
    const [{ outcome, how } = { outcome: "untried", how: "" }] = outcomesIn(output);
    expect({ outcome, how: codes.includes(how) ? codes : how }).toEqual({ outcome: "blocked", how: codes });
    expect(visits).toBe(0);
  });

  test("a listener that appears while the program runs", async () => {
    const path = join(tree, "later.sock");
    const probing = ambit.probe([`unix-late=${path}`]);
    await pause(500, "the program is trying by then");
    await listens(path);
    expect(outcomesIn((await probing).output).map(({ outcome, how }) => [outcome, how])).toEqual([
      ["blocked", "EACCES"],
    ]);
    expect(visits).toBe(0);
  });

  test("outside a sandbox the same program reaches it", async () => {
    const words = [join(scene.root, "probe"), join(scene.root, "scene"), `unix-late=${join(tree, "before.sock")}`];
    const [command = "", ...rest] = [...who.prefix, ...words];
    const child = spawn(command, rest, { stdio: ["ignore", "pipe", "inherit"] });
    expect(outcomesIn(await text(child.stdout)).map(({ outcome }) => outcome)).toEqual(["open"]);
    expect(visits).toBe(1);
    visits = 0;
  });

  test("calls that wait for ever end with their command, and the next command connects", async () => {
    const stuck = await ambit.probe(["unix-stuck"], { options: ["--timeout", "3"] });
    expect(stuck).toMatchObject({ outcome: "ran", ending: { kind: "ended", because: "time" } });
    const { output } = await ambit.probe(["unix-own=stream"]);
    expect(outcomesIn(output).map(({ how }) => how)).toEqual(["served"]);
  });
});
