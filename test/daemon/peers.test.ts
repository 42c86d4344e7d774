// Identifying peers: the kernel reports the process, and a process that cannot be identified is refused at the control socket.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { daemonFolder } from "../../src/platform/daemon/daemon-start.ts";
import { ancestorsMax, readPeer } from "../../src/platform/daemon/peers.ts";
import { ownIdentity } from "../../src/platform/daemon/process-identity.ts";
import { ask, DaemonFixture, type Echo, homeOf, RawClient } from "./fixture.ts";

let fixture: DaemonFixture;
let state: string;
let echo: Echo;
beforeAll(async () => {
  fixture = await DaemonFixture.make();
  state = fixture.state();
  echo = await fixture.started(state, "control");
});
afterAll(async () => {
  echo.close();
  await fixture.remove();
});

interface Running {
  /** It has exited; its children may still run. */
  readonly ended: Promise<void>;
  /** All output of it and its children. */
  readonly said: Promise<string>;
}

/** Runs a Node program with the path of the control socket. */
function run(text: string, options: { readonly uid?: number } = {}): Running {
  const child = spawn(process.execPath, ["-e", text, join(daemonFolder(state), "control.sock")], {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: "/",
    ...options,
  });
  return { ended: new Promise((done) => child.once("exit", () => done())), said: textOf(child) };
}

function textOf(child: ChildProcess): Promise<string> {
  return new Promise((give) => {
    let text = "";
    child.stdout?.on("data", (bytes: Buffer) => {
      text += bytes.toString();
    });
    child.once("close", () => give(text));
  });
}

const firstMessage = `
  const socket = require("net").connect(process.argv.at(-1));
  socket.on("error", (error) => { console.log(error.code); process.exit(); });
  socket.on("data", (bytes) => { console.log(bytes.subarray(5).toString()); process.exit(); });
  socket.on("close", () => console.log("closed"));`;

test("a peer is identified with its start time, its ancestors and its terminal", async () => {
  const who = await ask(echo, "who");
  const own = ownIdentity();
  expect(who).toMatchObject({ pid: process.pid, uid: process.getuid?.(), start: own.start, terminal: false });
  const ancestors = who["ancestors"] as { readonly pid: number; readonly start: string }[];
  expect(ancestors[0]).toMatchObject({ pid: own.pid, start: own.start, terminal: 0, session: expect.any(Number) });
  expect(ancestors[1]?.pid).toBe(process.ppid);
  expect(ancestors.at(-1)?.pid).toBe(1);
});

test("a reused pid identifies no process", () => {
  const { pid, start } = ownIdentity();
  expect(readPeer(pid, 0, start as string)).toMatchObject({ isFound: true, isWhole: true });
  expect(readPeer(pid, 0, "1")).toEqual({ isFound: false });
  expect(readPeer(pid, 0, "")).toEqual({ isFound: false });
  expect(readPeer(0, 0, "")).toEqual({ isFound: false });
  expect(readPeer(4_194_305, 0, "1")).toEqual({ isFound: false });
});

test("a process with too many ancestors to check is refused at the control socket", async () => {
  // Shells, each waiting for the next.
  const below = (depth: number): Promise<string> => {
    const go =
      'go() { if [ "$1" -gt 0 ]; then ( go $(( $1 - 1 )); true ); else "$NODE" -e "$TEXT" "$SOCKET"; true; fi; }';
    const socket = join(daemonFolder(state), "control.sock");
    const environment = { NODE: process.execPath, TEXT: firstMessage, SOCKET: socket, PATH: "/usr/bin:/bin" };
    return textOf(
      spawn("/bin/sh", ["-c", `${go}; go ${depth}; true`], { stdio: ["ignore", "pipe", "inherit"], env: environment }),
    );
  };
  expect(await below(3)).toContain('"hello"');
  expect(await below(ancestorsMax)).toContain('"control_refused"');
});

test("a process that has exited before it was checked is refused at the control socket", async () => {
  const listener = Number((await ask(echo, "children"))["first"]);
  process.kill(listener, "SIGSTOP");
  // Connects, passes the socket to a child, and exits; the child prints what arrives.
  const { ended, said } = run(`
    const socket = require("net").connect(process.argv.at(-1), () => {
      require("child_process").spawn("/bin/cat", [], { stdio: [socket, "inherit", "ignore"], detached: true }).unref();
      process.exit();
    });`);
  await ended;
  process.kill(listener, "SIGCONT");
  expect(await said).toContain('"control_refused"');
});

test.runIf(process.getuid?.() === 0)("another user gets no answer, even if the folder is open", async () => {
  const folder = daemonFolder(state);
  const paths = [
    fixture.folder,
    homeOf(state),
    ...[".local", ".local/state", ".local/state/ambit", ".local/state/ambit/daemon"].map((below) =>
      join(homeOf(state), below),
    ),
  ];
  for (const path of paths) chmodSync(path, 0o711);
  chmodSync(join(folder, "control.sock"), 0o666);
  expect(await run(firstMessage, { uid: 12_345 }).said).toBe("closed\n");
  for (const path of paths) chmodSync(path, 0o700);
  const raw = await RawClient.greeted(state, "control");
  raw.say({ id: 1, ask: "echo", value: {} });
  expect(await raw.message()).toEqual({ id: 1, ok: true, value: {} });
  raw.socket.destroy();
});
