// Passing sockets between processes by Node's own framing, which is undocumented. Run on every Node major we support.
import { spawn } from "node:child_process";
import dgram from "node:dgram";
import { once } from "node:events";
import net from "node:net";
import { expect, test } from "vitest";
import { datagramsOf, type Handle, serverOf } from "../../src/sandbox/network/sockets.ts";

/** Opens one socket of each kind, sends both as bare handles, keeps neither. */
const SENDER = `
  const net = require("node:net"), dgram = require("node:dgram");
  process.on("message", () => process.exit(0));
  const server = net.createServer().listen(0, "127.0.0.1", () => {
    const datagrams = dgram.createSocket("udp4").bind(0, "127.0.0.1", () => {
      const state = Object.getOwnPropertySymbols(datagrams).find((one) => String(one) === "Symbol(state symbol)");
      const ports = [server.address().port, datagrams.address().port];
      process.send({ kind: "tcp", port: ports[0] }, server._handle, () => {
        server.close();
        process.send({ kind: "dns", port: ports[1] }, datagrams[state].handle, () => datagrams.close());
      });
    });
  });
`;

async function received(): Promise<ReadonlyMap<string, { readonly port: number; readonly handle: unknown }>> {
  const child = spawn(process.execPath, ["-e", SENDER], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const found = new Map<string, { readonly port: number; readonly handle: unknown }>();
  while (found.size < 2) {
    const [message, handle] = (await once(child, "message")) as [{ kind: string; port: number }, unknown];
    found.set(message.kind, { port: message.port, handle });
  }
  child.send("done");
  await once(child, "exit");
  return found;
}

test("a listener and a datagram socket arrive as bare handles and work again", async () => {
  const found = await received();
  const listener = found.get("tcp");
  const names = found.get("dns");
  if (listener === undefined || names === undefined) throw new Error("no handles");
  expect([listener.handle, names.handle].map((one) => (one as object).constructor.name)).toEqual(["TCP", "UDP"]);

  const server = await serverOf(listener.handle, (socket) => socket.end("served"));
  const socket = net.connect(listener.port, "127.0.0.1").setEncoding("utf8");
  expect((await once(socket, "data"))[0]).toBe("served");
  socket.destroy();
  server?.close();

  const datagrams = datagramsOf(names.handle, (bytes, from) => datagrams?.send(bytes, from.port, from.address));
  const asking = dgram.createSocket("udp4");
  asking.send("asked", names.port, "127.0.0.1");
  expect(String((await once(asking, "message"))[0])).toBe("asked");
  asking.close();
  datagrams?.close();
});

test("a handle of the wrong kind, or none, is not accepted", async () => {
  const found = await received();
  const [listener, names] = [found.get("tcp")?.handle as Handle, found.get("dns")?.handle as Handle];
  expect(await serverOf(names, () => undefined)).toBe(null);
  expect(datagramsOf(listener, () => undefined)).toBe(null);
  for (const nothing of [undefined, null, 3, {}, { close: () => undefined }]) {
    expect(await serverOf(nothing, () => undefined)).toBe(null);
    expect(datagramsOf(nothing, () => undefined)).toBe(null);
  }
  listener.close();
  names.close();
});
