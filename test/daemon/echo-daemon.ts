// A daemon with nothing but its sockets: it echoes requests, and has a few requests of its own that show how answering can fail.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onAbort } from "../../src/core/base/abort.ts";
import { announce } from "../../src/daemon/rpc/announcement.ts";
import { readDaemonArguments } from "../../src/daemon/rpc/daemon-arguments.ts";
import { openDaemonFolder } from "../../src/daemon/rpc/folder.ts";
import { type DaemonLifetime, startLife } from "../../src/daemon/rpc/life.ts";
import { serveSockets } from "../../src/daemon/rpc/serve.ts";
import type { MessageHandler, MessageHandlers } from "../../src/daemon/rpc/serving.ts";
import { daemonLog } from "../../src/platform/daemon/daemon-log.ts";
import { readPeer } from "../../src/platform/daemon/peers.ts";
import { takeStateLock } from "../../src/platform/daemon/state-lock.ts";

const version = "0.0.0-echo";
/** Beside the program, as in our package. */
const native = join(__dirname, "native", "ambit-native");

let stopped = 0;
const notes: string[] = [];
let life: DaemonLifetime | null = null;

const common: readonly (readonly [string, MessageHandler])[] = [
  ["echo", async ({ value }) => ({ ok: true, value })],
  ["who", async ({ connected }) => ({ ok: true, value: { daemon: process.pid, ...connected.peer } })],
  ["environment", async () => ({ ok: true, value: { ...process.env, cwd: process.cwd() } })],
  [
    "children",
    async () => {
      const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim();
      return { ok: true, value: { first: Number(children.split(" ")[0]) } };
    },
  ],
  ["refuse", async () => ({ ok: false, code: "approval_required", message: "a person has to say", fix: "ask one" })],
  [
    "throw",
    async () => {
      throw new Error("a secret of ours");
    },
  ],
  // Waits until the client cancels the request.
  [
    "wait",
    (exchange) =>
      new Promise((done) => {
        exchange.tell({ waiting: true });
        onAbort(exchange.signal, () => {
          stopped++;
          done({ ok: true, value: { stopped } });
        });
      }),
  ],
  ["stopped", async () => ({ ok: true, value: { stopped } })],
  ["large", async ({ value }) => ({ ok: true, value: { text: "x".repeat(Number(value["bytes"])) } })],
  // Without waiting for room in the socket: a handler that ignores backpressure.
  [
    "flood",
    async (exchange) => {
      for (let at = 0; at < Number(exchange.value["events"]) && !exchange.signal.aborted; at++)
        exchange.tell({ at, text: "x".repeat(10_000) });
      return { ok: true, value: { isStopped: exchange.signal.aborted } };
    },
  ],
  [
    "send",
    async (exchange) => {
      const part = new Uint8Array(100_000).fill(7);
      for (let sent = 0; sent < Number(exchange.value["bytes"]) && !exchange.signal.aborted; sent += part.length)
        await exchange.send(1, part);
      return { ok: true, value: {} };
    },
  ],
  [
    "count",
    async ({ input }) => {
      let bytes = 0;
      let sum = 0;
      for await (const part of input) {
        bytes += part.length;
        for (const byte of part) sum = (sum + byte) % 65_536;
      }
      return { ok: true, value: { bytes, sum } };
    },
  ],
  // The result is ignored for a notification.
  [
    "note",
    async ({ value }) => {
      notes.push(String(value["note"]));
      return { ok: true, value: {} };
    },
  ],
  ["notes", async () => ({ ok: true, value: { notes: notes.splice(0) } })],
  ["ignore", async () => new Promise((done) => setTimeout(() => done({ ok: true, value: {} }), 200))],
  ["tell", async ({ connected }) => ({ ok: true, value: { isTold: connected.tell({ news: 1 }) } })],
  [
    "fall",
    async () => {
      setImmediate(() => {
        throw new Error("fell");
      });
      return { ok: true, value: {} };
    },
  ],
  [
    "end",
    async () => {
      life?.end("asked to");
      return { ok: true, value: {} };
    },
  ],
];

async function main(): Promise<void> {
  process.umask(0o077);
  const words = readDaemonArguments(process.argv.slice(2));
  if (words === null) process.exit(2);
  const folder = openDaemonFolder(join(words.state, "daemon"));
  if (!folder.ok) return refuse(folder);
  const lock = takeStateLock({ path: folder.value.within("owner.lock"), native });
  if (!lock.ok) return refuse(lock);
  const log = daemonLog(folder.value.path);
  const handlers: MessageHandlers = { call: new Map(common), control: new Map(common) };
  const serving = await serveSockets({ folder: folder.value, handlers, native, version, look: readPeer, log });
  if (!serving.ok) return refuse(serving);
  life = startLife({
    serving: serving.value,
    folder: folder.value,
    idleSeconds: words.idleSeconds,
    isBusy: () => false,
    close: async () => log("closed"),
    log,
  });
  announce({ ok: true, value: null });
}

function refuse(refusal: Parameters<typeof announce>[0]): void {
  announce(refusal);
  process.exit(1);
}

void main();
