// The same confinement for a user who is not root: some tests run as root, people do not.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "../e2e/bundle.ts";
import { nativeProgram, ownFolder, removeFolder } from "./fixture.ts";

const USER = 12_345;
const SETPRIV = ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", "--"] as const;

/** Only root can become another user, who must be able to run Node where it is installed. */
function canTry(): boolean {
  const [program, ...words] = [...SETPRIV, process.execPath, "-e", "0"];
  return process.getuid?.() === 0 && spawnSync(program, words, { cwd: "/", timeout: 60_000 }).status === 0;
}

const folder = ownFolder();
afterAll(() => removeFolder(folder));

describe.skipIf(!canTry())("an unprivileged caller", () => {
  let told: Record<string, unknown> = {};
  beforeAll(async () => {
    const program = await bundleProgram("test/sandbox/other-user.ts");
    const [script, native] = [join(folder, "program.cjs"), join(folder, "ambit-native")];
    copyFileSync(program, script);
    copyFileSync(nativeProgram(), native);
    for (const path of [folder, script, native]) {
      chmodSync(path, 0o755);
      chownSync(path, USER, USER);
    }
    const [first, ...words] = [...SETPRIV, process.execPath, script, folder];
    const ran = spawnSync(first, words, {
      cwd: "/",
      encoding: "utf8",
      timeout: 150_000,
      env: { AMBIT_NATIVE: native, TMPDIR: folder },
    });
    if (ran.status !== 0) throw new Error(`${ran.status} ${ran.stderr}`);
    told = JSON.parse(ran.stdout) as Record<string, unknown>;
  });

  test.each<[string, string, unknown]>([
    ["has its own user and group inside, and no others", "who", `${USER}\n${USER}\n`],
    ["writes in its folder", "wrote", "text\n"],
    ["has no capabilities", "capabilities", "0000000000000000\n"],
    ["gains none by executing a program", "noNew", "1\n"],
    ["changes a repository in its draft", "hooks", "pre-commit\n[core]\nx\n"],
    ["does not see masked names", "masked", ".git\n"],
    ["sees no secret", "secrets", ""],
    ["leaves a sealed draft", "sealed", true],
    ["is limited in its number of processes", "forked", ""],
    ["starts many sandboxes at once", "together", ["exited"]],
    ["leaves nothing behind", "left", [[], []]],
    ["leaves the folder as it was", "files", [".env", ".git", ".git/config", ".git/hooks"]],
    ["with its content", "config", "[core]\n"],
  ])("%s", (_what, key, wanted) => {
    expect(told[key]).toEqual(wanted);
  });
});
