// The packed package, unpacked where npm would put it with the packages it declares and no others: it runs without a compiler and
// without the checkout.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { findProgram } from "../../src/sandbox/linux/programs.ts";
import { root } from "../e2e/ambit.ts";
import { prepareState } from "../house/daemon-state.ts";
import { ownFolder } from "../house/own-folder.ts";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

const prefix = ownFolder("ambit-installed-");
const modules = join(prefix, "node_modules");
const installed = join(modules, "ambit");
const programs = join(prefix, "programs");
const project = join(prefix, "project");

beforeAll(() => {
  for (const folder of [installed, programs, project]) mkdirSync(folder, { recursive: true });
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", prefix], { cwd: root });
  const [archive = ""] = readdirSync(prefix).filter((name) => name.endsWith(".tgz"));
  execFileSync("tar", ["-xzf", join(prefix, archive), "--strip-components=1", "-C", installed]);
  for (const name of declared(join(installed, "package.json"))) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  // No compiler, no npm: what the tour of a new user needs, by name.
  for (const name of ["bwrap", "git", "sh", "cat", "ls"]) symlinkSync(String(findProgram(name)), join(programs, name));
  prepareState(join(prefix, "state"), join(prefix, "config"));
}, 120_000);

/** The names of the packages that a manifest needs, with theirs. */
function declared(manifest: string, found = new Set<string>()): ReadonlySet<string> {
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, "utf8")) as Manifest;
  for (const name of Object.keys(dependencies)) {
    if (found.has(name)) continue;
    found.add(name);
    declared(join(root, "node_modules", name, "package.json"), found);
  }
  return found;
}

function run(...argv: readonly string[]): { readonly status: number | null; readonly out: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
    cwd: project,
    encoding: "utf8",
    env: {
      PATH: programs,
      HOME: prefix,
      NO_COLOR: "1",
      XDG_STATE_HOME: join(prefix, "state"),
      XDG_CONFIG_HOME: join(prefix, "config"),
    },
    timeout: 60_000,
  });
  return { status, out: stdout + stderr };
}

const ambit = (...words: readonly string[]): ReturnType<typeof run> => run(join(installed, "bin", "ambit"), ...words);

test("a new user makes an agent, and a program of it runs in a sandbox", () => {
  expect(ambit("--version")).toMatchObject({ status: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  expect(ambit("init", "--preset", "coder", "--yes").status).toBe(0);
  writeFileSync(join(project, "note.txt"), "from the project\n");
  expect(ambit("exec", "coder", "--", "cat", "note.txt")).toEqual({ status: 0, out: "from the project\n" });
  expect(ambit("exec", "coder", "--", "cat", "/etc/shadow").status).not.toBe(0);
  expect(ambit("audit", "verify").status).toBe(0);
});

test("an application imports the library and calls a tool", () => {
  const application = join(prefix, "application.mjs");
  writeFileSync(
    application,
    `import { defineTool } from "ambit";
import { createAmbit } from "ambit/node";
const ambit = await createAmbit({ workspace: ${JSON.stringify(project)} });
const session = await ambit.session("coder");
const read = await session.call("fs_read", { path: "note.txt" });
console.log(typeof defineTool, read.ok);
await ambit.close();
`,
  );
  expect(run(application)).toEqual({ status: 0, out: "function true\n" });
});

test("it has the sources of the native program, the documentation, and nothing of the tests", () => {
  const has = (...path: readonly string[]): boolean => existsSync(join(installed, ...path));
  expect([has("native", "main.c"), has("scripts", "native.mjs"), has("docs", "limits.md")]).toEqual([true, true, true]);
  expect([has("test"), has("src"), has("dist", "native", "ambit-native-fuzz"), has("native", "fuzz")]).toEqual(
    new Array(4).fill(false),
  );
});

test("without the native program the message says how to build it", () => {
  const bare = join(prefix, "bare");
  execFileSync("cp", ["-a", installed, bare]);
  execFileSync("rm", ["-r", join(bare, "dist", "native")]);
  expect(ambit("daemon", "stop").status).toBe(0);
  const { status, out } = run(join(bare, "bin", "ambit"), "exec", "coder", "--", "ls");
  expect(status).toBe(125);
  expect(out).toContain(`node ${JSON.stringify(join(bare, "scripts", "native.mjs"))} program`);
});
