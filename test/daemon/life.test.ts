// How the daemon is shutting down: when no client is connected, when it is told to, and when its folder or sockets are no longer its own.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { daemonFolder } from "../../src/platform/daemon/daemon-start.ts";
import { pause } from "../house/pause.ts";
import { isRunning } from "../house/processes.ts";
import { until } from "../house/until.ts";
import { ask, DaemonFixture, type Echo, expectValue, logOf, ownerOf, RawClient } from "./fixture.ts";

let fixture: DaemonFixture;
beforeAll(async () => {
  fixture = await DaemonFixture.make();
});
afterAll(() => fixture.remove());

const gone = (pid: number): Promise<void> => until(() => !isRunning(pid), "it is gone");

async function running(
  idleSeconds = 60,
): Promise<{ readonly state: string; readonly echo: Echo; readonly pid: number }> {
  const state = fixture.state();
  const echo = await fixture.started(state, "call", { idleSeconds });
  return { state, echo, pid: ownerOf(state) as number };
}

test("ends after its idle timeout without connections, and not before", async () => {
  const { state, echo, pid } = await running(1);
  await pause(2_500, "longer than the idle timeout, with a connection");
  expect(await ask(echo, "echo", { still: 1 })).toEqual({ still: 1 });
  echo.close();
  await gone(pid);
  expect(logOf(state)).toMatch(/ends: no client is connected\n.*closed\n$/);
  expect(readdirSync(daemonFolder(state))).not.toContain("call.sock");
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "on %s it answers pending requests with an error, then closes everything and exits",
  async (signal) => {
    const { state, echo, pid } = await running();
    const waiting = Array.from({ length: 50 }, () => echo.ask("wait", {}));
    await ask(echo, "echo");
    process.kill(pid, signal);
    for (const answer of await Promise.all(waiting))
      expect(answer).toEqual({ ok: false, code: "no_daemon", message: "the daemon is shutting down", fix: null });
    await gone(pid);
    expect(logOf(state)).toMatch(new RegExp(`ends: ${signal}\n.*closed\n$`));
  },
);

test("answers the request to end, and then exits", async () => {
  const { echo, pid } = await running();
  expect(await ask(echo, "end")).toEqual({});
  await gone(pid);
});

test.each<readonly [string, (folder: string) => void]>([
  ["its folder is removed", (folder) => rmSync(folder, { recursive: true })],
  ["its folder is moved", (folder) => renameSync(folder, `${folder}-moved`)],
  [
    "another folder replaces it",
    (folder) => {
      renameSync(folder, `${folder}-moved`);
      mkdirSync(folder, { mode: 0o700 });
    },
  ],
  ["a socket is removed", (folder) => rmSync(join(folder, "control.sock"))],
  [
    "another file replaces a socket",
    (folder) => {
      rmSync(join(folder, "call.sock"));
      writeFileSync(join(folder, "call.sock"), "");
    },
  ],
])("ends when %s", async (_, change) => {
  const { state, echo, pid } = await running();
  const waiting = echo.ask("wait", {});
  change(daemonFolder(state));
  expect(await waiting).toMatchObject({ ok: false, code: "no_daemon" });
  await gone(pid);
  expect(logOf(state) === "" || logOf(state).includes("its folder or a socket in it")).toBe(true);
});

test("ends after an uncaught exception", async () => {
  const { state, echo, pid } = await running();
  const waiting = echo.ask("wait", {});
  void echo.ask("fall", {});
  expect(await waiting).toMatchObject({ ok: false, code: "no_daemon" });
  await gone(pid);
  expect(logOf(state)).toMatch(/a mistake: Error: fell/);
  expect(logOf(state)).toMatch(/closed\n$/);
});

test("ends when its listener exits", async () => {
  const { echo, pid } = await running();
  const waiting = echo.ask("wait", {});
  await ask(echo, "echo");
  const listener = await ask(echo, "children");
  process.kill(Number(listener["first"]), "SIGKILL");
  expect(await waiting).toMatchObject({ ok: false, code: "no_daemon" });
  await gone(pid);
});

test("the listener exits with a killed daemon", async () => {
  const { echo, pid } = await running();
  const listener = Number((await ask(echo, "children"))["first"]);
  process.kill(pid, "SIGKILL");
  await gone(listener);
});

test("ends although a client neither reads nor disconnects", async () => {
  const { state, echo, pid } = await running();
  const raw = await RawClient.greeted(state);
  raw.socket.pause();
  raw.say({ id: 1, ask: "send", value: { bytes: 50_000_000 } });
  await ask(echo, "echo");
  process.kill(pid, "SIGTERM");
  await gone(pid);
  raw.socket.destroy();
});

test("without free descriptors new connections are dropped, and open ones are served", async () => {
  const state = fixture.state();
  mkdirSync(daemonFolder(state), { mode: 0o700 });
  // Started directly, with a low limit of descriptors; its ready line is not read.
  const words = [fixture.program("echo-daemon"), "--state", state, "--idle", "60"];
  fixture.spawnWith("/bin/sh", ["-c", 'ulimit -n 40; exec "$0" "$@"', process.execPath, ...words]);
  await until(async () => (await fixture.connect(state)).ok, "it serves");
  const echo = expectValue(await fixture.connect(state));
  const strangers = await Promise.all(Array.from({ length: 100 }, () => RawClient.come(state)));
  const firsts = await Promise.all(strangers.map((raw) => raw.message()));
  expect(firsts.some((message) => message?.["hello"] !== undefined)).toBe(true);
  expect(firsts.some((message) => message === undefined)).toBe(true);
  expect(await ask(echo, "echo", { alive: 1 })).toEqual({ alive: 1 });
  for (const { socket } of strangers) socket.destroy();
  await until(async () => (await fixture.connect(state)).ok, "there is room again");
  echo.close();
});
