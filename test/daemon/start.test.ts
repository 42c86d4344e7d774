// Starting the daemon on demand: exactly one, whichever client needs it, and only in a folder that is safe.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endDaemonProcess } from "../../src/platform/daemon/daemon-end.ts";
import { openDaemonLog } from "../../src/platform/daemon/daemon-log.ts";
import { daemonFolder } from "../../src/platform/daemon/daemon-start.ts";
import { identityText, ownIdentity } from "../../src/platform/daemon/process-identity.ts";
import { takeLock, takeStateLock } from "../../src/platform/daemon/state-lock.ts";
import { until } from "../house/until.ts";
import { ask, DaemonFixture, expectValue, homeOf, logOf, ownerOf } from "./fixture.ts";

let fixture: DaemonFixture;
beforeAll(async () => {
  fixture = await DaemonFixture.make();
});
afterAll(() => fixture.remove());

const native = (): string => join(fixture.folder, "native", "ambit-native");
const lockOf = (state: string): string => join(daemonFolder(state), "owner.lock");
const modeOf = (path: string): number => statSync(path).mode & 0o777;

test("sixty-four concurrent clients get one and the same daemon", async () => {
  const state = fixture.state();
  const words = [fixture.program("starter"), state, homeOf(state), fixture.program("echo-daemon"), native()];
  const said = await Promise.all(
    Array.from({ length: 64 }, () => {
      const child = fixture.spawn(words);
      return new Promise<string>((give) => {
        let text = "";
        child.stdout?.on("data", (bytes: Buffer) => {
          text += bytes.toString();
          if (text.includes("\n")) give(text.trim());
        });
        child.once("exit", () => give(`ended: ${text}`));
      });
    }),
  );
  expect(new Set(said)).toEqual(new Set([String(ownerOf(state))]));
  // A second daemon would have logged that the state is owned.
  expect(logOf(state)).toBe("");
});

test("it inherits nothing from the process that starts it, and its files are closed to other users", async () => {
  const state = fixture.state();
  process.env["AMBIT_TEST_SECRET"] = "hidden";
  const echo = await fixture.started(state);
  delete process.env["AMBIT_TEST_SECRET"];
  // The home folder is the one that the command found, never what the environment says.
  expect(await ask(echo, "environment")).toEqual({ PATH: "/usr/bin:/bin", HOME: homeOf(state), cwd: "/" });
  expect(modeOf(daemonFolder(state))).toBe(0o700);
  for (const name of readdirSync(daemonFolder(state)))
    expect([name, modeOf(join(daemonFolder(state), name))]).toEqual([name, 0o600]);
  expect(readdirSync(daemonFolder(state)).sort()).toEqual(
    ["call.sock", "control.sock", "daemon.log", "owner.lock", "starting.lock"].sort(),
  );
  expect(readFileSync(`/proc/${ownerOf(state)}/limits`, "utf8")).toMatch(/^Max core file size +1 +1 /m);
  echo.close();
});

test("a killed daemon is started again by the next client", async () => {
  const state = fixture.state();
  const first = await fixture.started(state);
  const pid = ownerOf(state);
  const waiting = first.ask("wait", {});
  process.kill(pid as number, "SIGKILL");
  expect(await waiting).toMatchObject({ ok: false, code: "no_daemon" });
  expect(await first.ask("echo", {})).toMatchObject({ ok: false, code: "no_daemon" });
  const second = await fixture.started(state);
  expect(ownerOf(state)).not.toBe(pid);
  expect(await ask(second, "echo", { again: 1 })).toEqual({ again: 1 });
  second.close();
});

test("a socket path may be as long as any path", async () => {
  const state = fixture.state("a".repeat(200), "b".repeat(200));
  const echo = await fixture.started(state, "control");
  expect(await ask(echo, "echo", { long: 1 })).toEqual({ long: 1 });
  echo.close();
});

test("in a state folder other than the default one it is started only after a person has named that folder", async () => {
  const state = fixture.state();
  // Also below the home folder.
  const home = join(homeOf(state), "..");
  const refused = await fixture.start(state, "call", { home });
  expect(refused).toMatchObject({ ok: false, code: "no_daemon", fix: "ambit daemon start" });
  expect(lstatSync(daemonFolder(state), { throwIfNoEntry: false })).toBeUndefined();
  expect(await fixture.start(state, "call", { home: null })).toMatchObject({ ok: false, code: "no_daemon" });
  const named = await fixture.started(state, "call", { home, isByName: true });
  named.close();
  expect(await endDaemonProcess(lockOf(state))).toBe("ended");
  const again = await fixture.started(state, "call", { home });
  again.close();
});

test("the default state folder is recognized under every name that leads to it", async () => {
  const state = fixture.state();
  const link = join(homeOf(state), "link");
  symlinkSync(state, link);
  const echo = await fixture.started(link, "call", { home: homeOf(state) });
  expect(await ask(echo, "echo", { same: 1 })).toEqual({ same: 1 });
  echo.close();
});

test.each<readonly [string, (folder: string) => void]>([
  ["open to the group", (folder) => mkdirSync(folder, { mode: 0o750 })],
  ["open to others", (folder) => mkdirSync(folder, { mode: 0o701 })],
  ["a file", (folder) => writeFileSync(folder, "", { mode: 0o600 })],
  [
    "a link",
    (folder) => {
      mkdirSync(`${folder}-real`, { mode: 0o700 });
      symlinkSync(`${folder}-real`, folder);
    },
  ],
  ["a dangling link", (folder) => symlinkSync(`${folder}-nowhere`, folder)],
  [
    "in a state folder that others can write to",
    (folder) => {
      mkdirSync(folder, { mode: 0o700 });
      chmodSync(join(folder, ".."), 0o777);
    },
  ],
])("a folder that is %s is refused, and no daemon is started", async (_, make) => {
  const state = fixture.state();
  const before = process.umask(0);
  make(daemonFolder(state));
  process.umask(before);
  expect(await fixture.start(state)).toMatchObject({ ok: false, code: "folder_refused" });
  expect(ownerOf(state)).toBeNull();
});

test("a file at the path of a socket is replaced only if it is a socket", async () => {
  const state = fixture.state();
  const folder = daemonFolder(state);
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, "call.sock"), "precious");
  expect(await fixture.start(state)).toMatchObject({ ok: false });
  expect(readFileSync(join(folder, "call.sock"), "utf8")).toBe("precious");
  rmSync(join(folder, "call.sock"));
  // As after a crash: the socket file is left although no process listens.
  (await fixture.started(state)).close();
  process.kill(ownerOf(state) as number, "SIGKILL");
  await until(() => ownerOf(state) === null, "it is gone");
  expect(lstatSync(join(folder, "call.sock")).isSocket()).toBe(true);
  const echo = await fixture.started(state);
  echo.close();
});

test("a lock belongs to one process and is released when it exits", async () => {
  const state = fixture.state();
  const path = join(state, "lock");
  const own = expectValue(takeLock({ path, native: native() }));
  expect(takeLock({ path, native: native() })).toMatchObject({ ok: false, code: "owned" });
  expect(takeStateLock({ path, native: native() })).toMatchObject({ ok: false, code: "owned" });
  own.release();
  expectValue(takeLock({ path, native: native() })).release();
  symlinkSync(path, `${path}-link`);
  expect(takeLock({ path: `${path}-link`, native: native() })).toMatchObject({ ok: false, code: "not_available" });
  expect(takeLock({ path, native: join(state, "absent") })).toMatchObject({
    ok: false,
    fix: expect.stringMatching(/native\.mjs" program$/),
  });
});

test("a daemon that does not respond is killed by its pid, and no other process is", async () => {
  const state = fixture.state();
  (await fixture.started(state)).close();
  const pid = ownerOf(state) as number;
  process.kill(pid, "SIGSTOP");
  const ending = endDaemonProcess(lockOf(state));
  // While stopped it does not handle the first signal.
  process.kill(pid, "SIGCONT");
  expect(await ending).toBe("ended");
  expect(await endDaemonProcess(lockOf(state))).toBe("absent");
  // The pid of one of our processes with the start time of another.
  writeFileSync(lockOf(state), identityText({ ...ownIdentity(), start: "1" }));
  expect(await endDaemonProcess(lockOf(state))).toBe("absent");
});

test("a log that has grown too long is rotated, and two older ones are kept", () => {
  const folder = fixture.state();
  for (let turn = 1; turn <= 5; turn++) {
    writeFileSync(join(folder, "daemon.log"), `${turn}`.repeat(1_048_576), { mode: 0o600 });
    const descriptor = openDaemonLog(folder);
    expect(statSync(`/proc/self/fd/${descriptor}`).size).toBe(0);
  }
  expect(readdirSync(folder).sort()).toEqual(["daemon.log", "daemon.log.1", "daemon.log.2"]);
  expect(readFileSync(join(folder, "daemon.log.2"), "utf8").slice(0, 1)).toBe("4");
});
