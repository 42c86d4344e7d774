// The client side, against servers that are not our daemon or that speak another protocol version.
import { mkdtempSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { connect } from "../../src/daemon/rpc/client.ts";
import { makeDaemonFolder } from "../../src/daemon/rpc/folder.ts";
import { bytesFrame, jsonFrame } from "../../src/daemon/rpc/frame.ts";
import { protocolVersion } from "../../src/daemon/rpc/limits.ts";
import { removeState } from "../house/remove-state.ts";

const over: (() => void)[] = [];
afterEach(() => {
  for (const end of over.splice(0)) end();
});

/** A server at this path that sends this to every client. */
async function served(speak: (socket: Socket) => void): Promise<string> {
  const base = mkdtempSync(join(tmpdir(), "ambit-client-"));
  const folder = join(base, "daemon");
  expect(makeDaemonFolder(folder).ok).toBe(true);
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    speak(socket);
  });
  await new Promise<void>((done) => server.listen(join(folder, "call.sock"), done));
  over.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    removeState(base);
  });
  return folder;
}

const said = (message: object): Uint8Array => jsonFrame(JSON.stringify(message));
const hello = (protocol: number): Uint8Array => said({ hello: { protocol, version: "other" } });

test.each([
  [protocolVersion - 1, "the daemon is older"],
  [protocolVersion + 1, "this program is older"],
])("a daemon of protocol %i is refused, and older is told apart from newer", async (protocol, older) => {
  const folder = await served((socket) => socket.write(hello(protocol)));
  const refused = await connect("call", { folder, version: "test" });
  expect(refused).toMatchObject({ ok: false, code: "wrong_protocol", fix: "ambit daemon stop" });
  expect(refused.ok ? "" : refused.message).toContain(older);
});

test("responses are parsed however they are split into chunks, and parsed values do not change afterwards", async () => {
  const bytes = (value: number): Uint8Array => bytesFrame(1, 1, new Uint8Array(1_000).fill(value));
  const folder = await served((socket) => {
    const all = Buffer.concat([
      hello(protocolVersion),
      bytes(1),
      bytes(2),
      said({ id: 1, ok: true, value: { a: "ä" } }),
    ]);
    socket.write(all.subarray(0, 3));
    // Only the request is answered; the rest comes in pieces, each in its own event-loop turn.
    socket.write(hello(protocolVersion).subarray(3));
    socket.once("data", () => {
      const rest = all.subarray(hello(protocolVersion).length);
      let at = 0;
      const more = (): void => {
        socket.write(rest.subarray(at, at + 333));
        at += 333;
        if (at < rest.length) setImmediate(more);
      };
      setTimeout(more, 100);
    });
  });
  const connected = await connect("call", { folder, version: "test" });
  if (!connected.ok) throw new Error(connected.message);
  const heard: Uint8Array[] = [];
  const answer = await connected.value.ask(
    "tools.list",
    { session: "s" },
    { onBytes: (_, part) => void heard.push(part) },
  );
  expect(answer).toEqual({ ok: true, value: { a: "ä" } });
  expect(heard.map((part) => [part.length, ...new Set(part)])).toEqual([
    [1_000, 1],
    [1_000, 2],
  ]);
  connected.value.close();
  expect(connected.value.tell("call.settle", settle)).toBe(false);
});

const settle = { session: "s", receipt: "c", ended: "done", milliseconds: 0, isUntrusted: false };

test("a notification sent just before the end of the connection arrives", async () => {
  let arrived = "";
  const folder = await served((socket) => {
    socket.write(hello(protocolVersion));
    socket.on("data", (part) => {
      arrived += part.toString("latin1");
    });
    socket.on("end", () => {
      arrived += "END";
    });
  });
  const connected = await connect("call", { folder, version: "test" });
  if (!connected.ok) throw new Error(connected.message);
  expect(connected.value.tell("call.settle", { ...settle, ended: "größe" })).toBe(true);
  expect(connected.value.tell("call.settle", settle)).toBe(true);
  connected.value.close();
  await expect.poll(() => arrived, { timeout: 30_000 }).toMatch(/"tell".*gr.*"tell".*done.*END$/s);
});
