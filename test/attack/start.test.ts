// While a sandbox starts, its files are exchanged for links that lead out. It may start or be refused; the outside is neither
// read nor changed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Ambit, ExecOptions, Executed } from "./ambit.ts";
import { callers } from "./callers.ts";
import { AttackFixture } from "./fixture.ts";
import type { Scene } from "./scene.ts";

const startsCount = 8;

let fixture: AttackFixture;
beforeAll(() => {
  fixture = new AttackFixture();
});
afterAll(() => fixture.remove());

describe.each(callers())("as $caller", (who) => {
  let scene: Scene;
  let ambit: Ambit;
  let asked: ExecOptions;
  beforeEach(async () => {
    ({ scene, ambit } = await fixture.scene(who));
    asked = await fixture.agentBeside(scene, ambit, who, scene.root);
  });
  afterEach(async () => {
    await scene.end();
  });
  const outside = (...path: readonly string[]): string => join(scene.folder, "outside", ...path);

  /** This many starts, two at a time, while the two names are exchanged. */
  async function startsWhile(first: string, second: string, line: string): Promise<readonly Executed[]> {
    const swapper = spawn(fixture.programs.swapper, [first, second], { stdio: ["pipe", "pipe", "inherit"] });
    const ended = once(swapper, "exit");
    const said = text(swapper.stdout);
    const ran: Executed[] = [];
    const some = async (): Promise<void> => {
      for (let at = 0; at < startsCount / 2; at++) ran.push(await ambit.exec(["/bin/sh", "-c", line], asked));
    };
    try {
      await Promise.all([some(), some()]);
    } finally {
      swapper.stdin.end();
      await ended;
    }
    expect(Number(await said)).toBeGreaterThan(0);
    expect(ran).toHaveLength(startsCount);
    return ran;
  }

  test("the root is exchanged for a link", async () => {
    symlinkSync(outside(), join(scene.folder, "link"));
    const ran = await startsWhile(scene.root, join(scene.folder, "link"), "cat secret; echo planted > planted; ls -A");
    for (const { output, errors } of ran) expect(output + errors).not.toContain(scene.token);
    expect(readdirSync(outside()).sort()).toEqual(["canary", "link", "s", "secret"]);
  });

  test("a folder of settings is exchanged for a link", async () => {
    symlinkSync("../outside", join(scene.root, "link"));
    const ran = await startsWhile(
      join(scene.root, ".vscode"),
      join(scene.root, "link"),
      "cat .vscode/secret link/secret",
    );
    for (const { output } of ran) expect(output).not.toContain(scene.token);
    expect(readdirSync(outside()).sort()).toEqual(["canary", "link", "s", "secret"]);
    expect(readFileSync(outside("canary"), "utf8")).toBe("as it was\n");
  });

  test("the repository is exchanged for a link to one outside, in which nothing is created", async () => {
    cpSync(join(scene.root, ".git"), outside("git"), { recursive: true });
    for (const name of ["", "hooks", "config", "HEAD"]) fixture.give(outside("git", name), who);
    const before = readdirSync(outside("git"), { recursive: true }).sort();
    symlinkSync("../outside/git", join(scene.root, "link"));
    const line =
      "echo planted >> .git/config; echo planted > .git/hooks/post-merge; echo planted > .git/config.worktree";
    await startsWhile(join(scene.root, ".git"), join(scene.root, "link"), line);
    expect(readdirSync(outside("git"), { recursive: true }).sort()).toEqual(before);
    expect(readFileSync(outside("git", "config"), "utf8")).not.toContain("planted");
  });
});
