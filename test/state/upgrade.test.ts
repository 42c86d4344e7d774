// A daemon of another version: replaced by the next command when it has no sessions, left alone while it has some.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { VERSION } from "../../src/core/base/version.ts";
import { loadDriver } from "../../src/store/sqlite.ts";
import { root } from "../e2e/ambit.ts";
import { isRunning } from "../house/processes.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
afterEach(() => fixture.remove());

/** A checkout of the same programs, whose daemon was built just now. */
function otherProgram(change: (daemon: string) => string): string {
  const other = join(fixture.base, "other");
  mkdirSync(join(other, "dist"), { recursive: true });
  for (const name of ["native", "scripts", "node_modules", "package.json"])
    symlinkSync(join(root, name), join(other, name));
  cpSync(join(root, "bin"), join(other, "bin"), { recursive: true });
  for (const name of readdirSync(join(root, "dist")))
    if (name !== "daemon.cjs") symlinkSync(join(root, "dist", name), join(other, "dist", name));
  writeFileSync(join(other, "dist", "daemon.cjs"), change(readFileSync(join(root, "dist", "daemon.cjs"), "utf8")));
  return other;
}

/** A daemon that calls itself another version. */
async function startVersion(version: string): Promise<void> {
  const other = otherProgram((own) => {
    const changed = own.replaceAll(`"${VERSION}"`, JSON.stringify(version));
    expect(changed).not.toBe(own);
    return changed;
  });
  const words = [join(other, "dist", "daemon.cjs"), "--state", fixture.state, "--idle", "600", "--announce"];
  const child = spawn(process.execPath, words, { detached: true, stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const [line] = (await once(child.stdio[3] as NodeJS.ReadableStream, "data")) as [Buffer];
  expect(line.toString()).toBe("ready\n");
  child.unref();
  expect((await fixture.status()).version).toBe(version);
}

test("an older one without sessions is replaced by the next command, with its memory and its log", async () => {
  fixture = await Fixture.make();
  fixture.agent("keeper", ["memory.read", "memory.write"]);
  await fixture.trust();
  await startVersion("0.0.9");
  const check = await fixture.ambit("upgrade", "--check", "--json");
  expect([check.status, JSON.parse(check.out)]).toMatchObject([1, { daemon: "0.0.9", state: "replaceable" }]);
  expect((await fixture.ambit("call", "keeper", "memory_set", '{"key": "a", "value": "kept"}')).status).toBe(0);
  expect((await fixture.status()).version).toBe(VERSION);
  const read = await fixture.ambit("call", "keeper", "memory_get", '{"key": "a"}');
  expect(read.out).toContain("kept");
  expect((await fixture.ambit("upgrade", "--check")).status).toBe(0);
  expect((await fixture.ambit("audit", "verify")).status).toBe(0);
});

test("an older one with a session stays until the session ends", async () => {
  fixture = await Fixture.make();
  fixture.agent("keeper", ["memory.read"]);
  await fixture.trust();
  await startVersion("0.0.9");
  const caller = fixture.caller();
  expectValue(await caller.open(fixture.project, "keeper"));
  const busy = await fixture.ambit("upgrade");
  expect([busy.status, busy.out]).toEqual([1, expect.stringContaining("1 session uses it")]);
  expect((await fixture.status()).version).toBe("0.0.9");
  await caller.end();
  expect((await fixture.ambit("upgrade")).out).toContain("0.0.9, older; it was replaced");
  expect((await fixture.status()).version).toBe(VERSION);
});

test("a newer one is used, never replaced", async () => {
  fixture = await Fixture.make();
  fixture.agent("keeper", ["memory.read", "memory.write"]);
  await fixture.trust();
  await startVersion("99.0.0");
  expect((await fixture.ambit("call", "keeper", "memory_set", '{"key": "a", "value": "1"}')).status).toBe(0);
  expect((await fixture.status()).version).toBe("99.0.0");
  expect((await fixture.ambit("upgrade")).out).toContain("newer than this program");
});

test("one of the same version that started before the program was built is replaced by upgrade alone", async () => {
  fixture = await Fixture.make();
  fixture.agent("keeper", ["memory.read"]);
  await fixture.begin();
  const { pid } = await fixture.status();
  expect((await fixture.ambit("upgrade", "--check")).out).toContain(`${VERSION}, the same version`);
  const later = otherProgram((own) => own);
  const upgrade = (...words: readonly string[]): readonly [number | null, string] => {
    const [cwd, env] = [fixture.project, fixture.environment];
    const argv = [join(later, "bin", "ambit"), "upgrade", ...words];
    const { status, stdout } = spawnSync(process.execPath, argv, { cwd, env, encoding: "utf8", timeout: 60_000 });
    return [status, stdout];
  };
  expect(upgrade("--check")).toEqual([1, expect.stringContaining("started before this build; replace it with")]);
  expect((await fixture.status()).pid).toBe(pid);
  expect(upgrade()).toEqual([0, expect.stringContaining("started before this build; it was replaced")]);
  expect(isRunning(pid)).toBe(false);
  expect(upgrade("--check")).toEqual([0, expect.stringContaining("the same version")]);
});

test("a state of a newer version is refused, and the fix is about versions", async () => {
  fixture = await Fixture.make();
  fixture.agent("keeper", ["memory.read"]);
  await fixture.begin();
  await fixture.ambit("daemon", "stop");
  const database = loadDriver(root)?.(join(fixture.state, "state.db"), false);
  database?.exec("PRAGMA user_version = 99");
  database?.close();
  const { status, out } = await fixture.ambit("audit", "verify");
  expect([status, out]).toEqual([1, expect.stringMatching(/newer ambit \(version 99.*fix: ambit upgrade --check/s)]);
});

test("uninstall ends the daemon and says what stays", async () => {
  fixture = await Fixture.make();
  fixture.agent("keeper", ["memory.read"]);
  await fixture.begin();
  const { pid } = await fixture.status();
  expect((await fixture.ambit("uninstall")).status).toBe(2);
  mkdirSync(fixture.config, { recursive: true });
  const { status, out } = await fixture.ambitAtTerminal("uninstall", "--yes");
  expect(status, out).toBe(0);
  for (const text of ["the daemon has stopped", fixture.state, fixture.config, "`.ambit` in your projects"])
    expect(out).toContain(text);
  expect(isRunning(pid)).toBe(false);
  // Every command that it prints can be typed: a folder that is not there is not named.
  rmSync(fixture.config, { recursive: true });
  const again = await fixture.ambitAtTerminal("uninstall", "--yes");
  expect(again.out).toContain(fixture.state);
  expect(again.out).not.toContain(fixture.config);
  // As of a package of an MCP server. The command that is printed works for an ordinary user.
  const sealed = join(fixture.state, "packages", "sealed");
  mkdirSync(sealed, { recursive: true });
  writeFileSync(join(sealed, "file"), "", { mode: 0o444 });
  chmodSync(sealed, 0o555);
  const command = out.split(/\r?\n/).find((line) => /rm -r/.test(line) && line.includes(fixture.state)) ?? "";
  const own = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (own.uid !== undefined) execFileSync("chown", ["-R", `${own.uid}:${own.gid}`, fixture.base]);
  execFileSync("bash", ["-c", command], { cwd: "/", ...own });
  expect(existsSync(fixture.state)).toBe(false);
});
