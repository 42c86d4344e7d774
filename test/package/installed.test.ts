// The packed package, unpacked where npm would put it with the packages it declares and no others: it runs without a compiler and
// without the checkout.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
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

test("nothing is installed that is not loaded: three readers of files, and less than 24 megabytes in all", () => {
  const packages = [...declared(join(installed, "package.json"))];
  expect(packages.sort()).toEqual(["eslint-visitor-keys", "jsonc-parser", "toml-eslint-parser", "yaml"]);
  const folders = [installed, ...packages.map((name) => join(root, "node_modules", name))];
  expect(folders.map(bytesBelow).reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(24_000_000);
});

function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** From the header of an ELF file: the processor. */
const MACHINES: Readonly<Record<number, string>> = { 62: "x64", 183: "arm64" };

test("it has SQLite for the processors and C libraries that it supports, and the licences of what it copied", () => {
  const modules = readdirSync(join(installed, "dist", "sqlite")).sort();
  const names = ["arm64-glibc", "arm64-musl", "x64-glibc", "x64-musl"].map((name) => `linux-${name}.node`);
  expect(modules).toEqual(names);
  for (const name of modules) {
    const bytes = readFileSync(join(installed, "dist", "sqlite", name));
    const library = bytes.includes("libc.musl-") ? "musl" : "glibc";
    expect(name).toBe(`linux-${MACHINES[bytes.readUInt16LE(18)]}-${library}.node`);
  }
  const notices = readFileSync(join(installed, "dist", "third-party.txt"), "utf8");
  for (const name of ["@photostructure/sqlite", "age-encryption", "zod"])
    expect(notices).toMatch(new RegExp(`\n${name} [\\d.]+, `));
});

test("a key for age needs no package of its own", () => {
  const recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
  expect(ambit("secrets", "key", "--age", recipient)).toMatchObject({
    status: 0,
    out: expect.stringContaining(recipient),
  });
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
