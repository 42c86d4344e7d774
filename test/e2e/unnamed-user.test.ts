// A user id that the password database does not know, as `docker run --user 4711` has: the home folder is `$HOME` if it belongs to
// that id, and nothing else. The id is real: a user namespace maps the person who runs the tests to it.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownFolder } from "../house/own-folder.ts";
import { root } from "./ambit.ts";

const folder = ownFolder("ambit-unnamed-");
const [home, project] = [join(folder, "home"), join(folder, "project")];
for (const path of [home, project]) mkdirSync(path);
chmodSync(folder, 0o755);
/** Root of the tests is mapped to the id, so what root owns is its own; an ordinary user owns nothing of root's. */
const foreign = process.getuid?.() === 0 ? join(folder, "foreign") : "/usr";
if (process.getuid?.() === 0) {
  mkdirSync(foreign);
  chownSync(foreign, 1, 1);
}

function ambit(
  env: NodeJS.ProcessEnv,
  ...words: readonly string[]
): { readonly status: number | null; readonly out: string } {
  const id = ["--user", "--map-user=4711", "--map-group=4711"];
  const { status, stdout, stderr } = spawnSync(
    "unshare",
    [...id, process.execPath, join(root, "bin", "ambit"), ...words],
    { cwd: project, encoding: "utf8", env: { PATH: process.env["PATH"], NO_COLOR: "1", ...env }, timeout: 60_000 },
  );
  return { status, out: stdout + stderr };
}

test("works in a $HOME of its own, and keeps its log there", () => {
  const env = { HOME: home };
  expect(ambit(env, "init", "--preset", "coder", "--yes").status).toBe(0);
  expect(ambit(env, "can", "coder", "fs.read", "README.md")).toMatchObject({
    status: 0,
    out: expect.stringContaining("allow"),
  });
  expect(ambit(env, "call", "coder", "fs_list", "{}").out).not.toContain("no state folder");
  expect(existsSync(join(home, ".local", "state", "ambit"))).toBe(true);
  expect(ambit(env, "daemon", "stop").status).toBe(0);
});

test("has the daemon read its own configuration, as commands do", () => {
  const env = { HOME: home };
  const config = join(home, ".config", "ambit");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "mcp.yml"), "servers:\n  notes: { command: [notes-server] }\n");
  expect(ambit(env, "mcp", "list").out).toContain("notes-server");
  expect(ambit(env, "daemon", "stop").status).toBe(0);
});

test.each([
  ["belongs to another user", { HOME: foreign }],
  ["is the root folder", { HOME: "/" }],
  ["is relative", { HOME: "home" }],
  ["is not set", {}],
])("has no state where $HOME %s", (_what, env) => {
  const { status, out } = ambit(env, "call", "coder", "fs_list", "{}");
  expect(status).not.toBe(0);
  expect(out).toContain("no state folder");
});
