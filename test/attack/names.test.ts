// Names that a person's tools read or run: missing ones, links, two sandboxes at once; and our own files in a root.
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
import { callers } from "./callers.ts";
import { AttackFixture } from "./fixture.ts";
import { rootOf, type Scene } from "./scene.ts";

let fixture: AttackFixture;
beforeAll(() => {
  fixture = new AttackFixture();
});
afterAll(() => fixture.remove());

describe.each(callers())("as $caller", (who) => {
  let scene: Scene;
  let ambit: Ambit;
  beforeEach(async () => {
    ({ scene, ambit } = await fixture.scene(who));
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
    for (const one of [dirname(path), path]) fixture.give(one, who);
  }

  const ABSENT = [".bash_profile", ".zshrc", "mcp.json", ".devcontainer/x", ".config/fish/x", ".git/commondir"];
  test("missing names are created in the draft of the command, and not in the root", async () => {
    const line = `for name in ${ABSENT.join(" ")}; do mkdir -p $(dirname $name); echo planted > $name; done`;
    const before = rootOf(scene);
    expect(await sh(`${line}; cat ${ABSENT.join(" ")}`)).toMatchObject({
      outcome: "ran",
      status: 0,
      output: "planted\n".repeat(ABSENT.length),
    });
    expect(rootOf(scene)).toEqual(before);
  });

  test("two sandboxes at once, one with the other's root in its own: neither sees the other's draft", async () => {
    const wide = await fixture.agentBeside(scene, ambit, who, scene.root);
    const before = rootOf(scene);
    const moves = "mv .git x; mkdir -p .git/hooks; echo planted > .git/hooks/pre-commit; sleep 1; ls .git";
    const waits = "sleep 0.5; echo planted >> .git/config; ls .git/hooks; rmdir .vscode 2>/dev/null; ls -d .vscode";
    const [first, second] = await Promise.all([sh(moves, wide), sh(waits)]);
    expect([first.output, second.output]).toEqual(["hooks\n", "pre-commit\n.vscode\n"]);
    expect(rootOf(scene)).toEqual(before);
  });

  test("a root with our state in it has no draft: nothing runs, and the reason is reported", async () => {
    const wide = await fixture.agentBeside(scene, ambit, who, scene.folder);
    const ran = await sh("cat state/ambit/state; echo planted > state/ambit/planted", wide);
    expect(ran).toMatchObject({ outcome: "refused", code: "sandbox_unavailable" });
    expect(ran.message).toContain("state folder is inside");
    expect(existsSync(join(scene.folder, "state", "ambit", "planted"))).toBe(false);
  });

  test("a protected name that is a link through the old root leads nowhere outside", async () => {
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
    expect(readdirSync(outside).sort()).toEqual(["canary", "link", "s", "secret"]);
  });

  test("a protected name that is a link is not replaced, nor is its target", async () => {
    rmSync(at(".vscode"), { recursive: true });
    put(at("settings", "tasks.json"), "{}\n");
    symlinkSync("settings", at(".vscode"));
    await sh("rm .vscode && mkdir .vscode && echo planted > .vscode/tasks.json; echo planted > settings/tasks.json");
    expect(lstatSync(at(".vscode")).isSymbolicLink()).toBe(true);
    expect(readFileSync(at(".vscode", "tasks.json"), "utf8")).toBe("{}\n");
  });

  test("the file name that starts our program in a project is not replaced", async () => {
    mkdirSync(at("node_modules", ".bin"));
    symlinkSync("../ambit/bin/ambit", at("node_modules", ".bin", "ambit"));
    fixture.give(at("node_modules", ".bin"), who);
    await sh("cd node_modules/.bin && rm ambit && echo planted > ambit");
    expect(lstatSync(at("node_modules", ".bin", "ambit")).isSymbolicLink()).toBe(true);
  });

  test("a program cannot change what git runs for a person's read-only commands", async () => {
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
