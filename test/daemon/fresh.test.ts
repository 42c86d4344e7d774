// A state folder named by a variable, in which no daemon was ever started: no daemon starts there automatically, and the error
// says so and what to do.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { removeState } from "../house/remove-state.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "ambit-fresh-"));
  mkdirSync(join(base, "project", ".ambit", "agents"), { recursive: true });
  writeFileSync(join(base, "project", ".ambit", "agents", "scout.md"), "---\ncapabilities: [memory.read]\n---\n");
});
afterEach(() => {
  run(true, "daemon", "stop");
  removeState(base);
});

function run(
  isConfigNamed: boolean,
  ...words: readonly string[]
): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin", "ambit"), ...words], {
    // The variables must not lead into the project: then they would be ignored, and the user's own folders used.
    cwd: join(base, "project"),
    encoding: "utf8",
    env: {
      PATH: process.env["PATH"],
      NO_COLOR: "1",
      XDG_STATE_HOME: join(base, "state"),
      ...(isConfigNamed ? { XDG_CONFIG_HOME: join(base, "config") } : {}),
    },
    timeout: 60_000,
  });
  return { status, said: stdout + stderr };
}

test.each([true, false])(
  "reports no daemon before a person starts one, and uses it afterwards (configuration named: %s)",
  (isConfigNamed) => {
    const call = ["call", "scout", "memory_get", '{"key":"a"}'];
    for (const words of [["daemon", "status"], call, ["status"], call]) {
      const { said } = run(isConfigNamed, ...words);
      expect(said, words.join(" ")).toContain("automatically only for the default state folder");
      expect(said).toContain("fix: ambit daemon start");
      expect(said).not.toMatch(/starts when needed|reads its configuration in/);
      expect(existsSync(join(base, "state"))).toBe(false);
    }
    expect(run(isConfigNamed, "daemon", "start").status).toBe(0);
    expect(run(isConfigNamed, ...call).said).toContain("untrusted_policy");
    expect(run(isConfigNamed, "daemon", "stop").status).toBe(0);
    expect(run(isConfigNamed, "daemon", "status").said).toContain("it starts when needed");
    // A client with another configuration is refused: this daemon would not enforce it.
    const other = run(!isConfigNamed, "daemon", "status").said;
    expect(other).toMatch(/does not start automatically here: the daemon of this state reads its configuration in/);
    expect(run(!isConfigNamed, ...call).said).toContain("reads its configuration in");
    expect(run(isConfigNamed, ...call).said).toContain("untrusted_policy");
  },
);
