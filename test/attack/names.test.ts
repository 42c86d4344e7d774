// Protected names that are not there, that are links, that lie in another sandbox's root; and our own state in a root.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Ambit, ExecOptions } from "./ambit.ts";
import { outcomesIn } from "./attempt.ts";
import { callers } from "./callers.ts";
import { Ground } from "./ground.ts";
import type { Scene } from "./scene.ts";

let ground: Ground;
beforeAll(() => {
  ground = new Ground();
});
afterAll(() => ground.remove());

describe.each(callers())("as $caller", (who) => {
  let scene: Scene;
  let ambit: Ambit;
  beforeEach(async () => {
    ({ scene, ambit } = await ground.scene(who));
  });
  afterEach(async () => {
    await scene.end();
  });
  const at = (...path: readonly string[]): string => join(scene.root, ...path);
  const sh = (line: string, more: ExecOptions = {}): ReturnType<Ambit["exec"]> =>
    ambit.exec(["/bin/sh", "-c", line], more);
  /** As the caller would have done it. */
  function put(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    for (const one of [dirname(path), path]) ground.give(one, who);
  }

  const ABSENT = [".bash_profile", ".zshrc", "mcp.json", ".devcontainer/x", ".config/fish/x", ".git/commondir"];
  test("names that were not there do not outlast the command that made them", async () => {
    const ran = await sh(`for name in ${ABSENT.join(" ")}; do mkdir -p $(dirname $name); echo planted > $name; done`);
    expect(ran).toMatchObject({ outcome: "ran", ending: { kind: "ended", because: "pin_changed" } });
    expect(ABSENT.filter((name) => existsSync(at(name)))).toEqual([]);
    expect(readdirSync(join(scene.folder, "state", "ambit", "quarantine"))).toHaveLength(ABSENT.length);
  });

  test("a name beside them does", async () => {
    expect(await sh("echo mine > .zshrcs")).toMatchObject({ status: 0, denials: [] });
    expect(readFileSync(at(".zshrcs"), "utf8")).toBe("mine\n");
  });

  const HELD: readonly (readonly [word: string, how: string])[] = [
    ["pin-rename=.git", "EBUSY"],
    ["pin-rename=.ambit", "EBUSY"],
    ["pin-rename=.cursor", "EBUSY"],
    ["pin-exchange=.git", "EBUSY"],
    ["pin-overwrite=.git/config", "EROFS"],
    ["pin-create=.git/hooks/post-merge", "EROFS"],
    ["pin-create=.cursor/mcp.json", "EROFS"],
    ["rename-root", "EBUSY"],
  ];
  test("two sandboxes at once, one with the other's root in its own: neither moves what the other holds", async () => {
    const wide = await ground.agentBeside(scene, ambit, who, scene.folder);
    const before = lstatSync(at(".git")).ino;
    const waits = sh("sleep 1; echo planted >> .git/config; echo planted > .git/hooks/x; ls .git/hooks");
    const words = HELD.map(([word]) => word);
    const outcomes = outcomesIn((await ambit.probe(words, wide)).output);
    expect(outcomes.map(({ attempt, outcome, how }) => [attempt, outcome, how])).toEqual(
      HELD.map(([word, how]) => [word, "blocked", how]),
    );
    expect((await waits).output).toBe("pre-commit\n");
    expect(lstatSync(at(".git")).ino).toBe(before);
    expect(readFileSync(at(".git", "config"), "utf8")).not.toContain("planted");
  });

  test("a root with our state in it: nothing of the state is seen", async () => {
    const wide = await ground.agentBeside(scene, ambit, who, scene.folder);
    const ran = await sh("cat state/ambit/state; ls -A state/ambit; echo planted > state/ambit/planted", wide);
    expect([ran.outcome, ran.output]).toEqual(["ran", ""]);
    expect(existsSync(join(scene.folder, "state", "ambit", "planted"))).toBe(false);
  });

  test("a root with our state in it: the state stays where it is", async () => {
    const wide = await ground.agentBeside(scene, ambit, who, scene.folder);
    const state = lstatSync(join(scene.folder, "state")).ino;
    await sh("mv state away && mkdir -p state/ambit && echo planted > state/ambit/planted", wide);
    expect(lstatSync(join(scene.folder, "state")).ino).toBe(state);
    expect(existsSync(join(scene.folder, "state", "ambit", "planted"))).toBe(false);
  });

  test("a protected name that is a link through the old root leads nobody out", async () => {
    const outside = join(scene.folder, "outside");
    for (const name of [".vscode", ".idea", ".cursor"]) {
      rmSync(at(name), { recursive: true, force: true });
      symlinkSync(`/oldroot${outside}/${name}`, at(name));
      symlinkSync(`/oldroot${outside}`, at(`${name}-up`));
    }
    rmSync(at(".git", "hooks"), { recursive: true });
    symlinkSync(`/oldroot${outside}/hooks`, at(".git", "hooks"));
    const ran = await sh(`mkdir -p .idea .cursor/x .git/hooks/y; cat .vscode-up/secret; true`);
    expect(ran.output).not.toContain(scene.token);
    expect(readdirSync(outside).sort()).toEqual(["canary", "s", "secret"]);
  });

  test("a protected name that is a link is not replaced, nor what it leads to", async () => {
    rmSync(at(".vscode"), { recursive: true });
    put(at("settings", "tasks.json"), "{}\n");
    symlinkSync("settings", at(".vscode"));
    await sh("rm .vscode && mkdir .vscode && echo planted > .vscode/tasks.json; echo planted > settings/tasks.json");
    expect(readFileSync(at(".vscode", "tasks.json"), "utf8")).toBe("{}\n");
  });

  test("the name our program is started by in a project is not replaced", async () => {
    mkdirSync(at("node_modules", ".bin"));
    symlinkSync("../ambit/bin/ambit", at("node_modules", ".bin", "ambit"));
    ground.give(at("node_modules", ".bin"), who);
    await sh("cd node_modules/.bin && rm ambit && echo planted > ambit");
    expect(lstatSync(at("node_modules", ".bin", "ambit")).isSymbolicLink()).toBe(true);
  });

  test.fails("STILL OPEN what git runs for a person who only looks is not the program's", async () => {
    const config = "git config core.fsmonitor 'touch planted; false'";
    const commit = "git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m a";
    const ran = await sh(
      `mkdir sub && cd sub && git init -q . && ${commit} && ${config} && cd .. && ` +
        "git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub && echo done",
    );
    expect(ran.output).toBe("done\n");
    const [command = "", ...words] = [...who.prefix, "git", "status", "--short"];
    execFileSync(command, words, { cwd: scene.root, env: { ...scene.environment }, stdio: "ignore" });
    expect(existsSync(at("sub", "planted"))).toBe(false);
  });
});
