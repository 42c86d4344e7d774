import { once } from "node:events";
import net, { type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { pause } from "../../../test/house/pause.ts";
import { reset } from "./reset.ts";

async function pair(): Promise<readonly [one: Socket, other: Socket, net.Server]> {
  const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const one = net.connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [[other]] = (await Promise.all([once(server, "connection"), once(one, "connect")])) as [[Socket], unknown];
  for (const socket of [one, other]) socket.on("error", () => undefined);
  return [one, other, server];
}

const MOMENTS: readonly (readonly [string, () => Promise<void>])[] = [
  ["at once", async () => undefined],
  ["after a microtask", () => new Promise((go) => process.nextTick(go))],
  ["after an event-loop turn", () => new Promise((go) => setImmediate(go))],
  ["after a while", () => pause(5, "the moment of this row")],
];

test.each(MOMENTS)("an ended socket closes when it is reset %s", async (_, moment) => {
  for (const bytes of [0, 10, 8_000_000]) {
    const [one, other, server] = await pair();
    const closed = once(other, "close");
    if (bytes > 0) other.write(Buffer.alloc(bytes));
    other.end();
    await moment();
    reset(other);
    await closed;
    one.destroy();
    server.close();
  }
});

test("the other end receives a reset, not a regular end", async () => {
  const [one, other, server] = await pair();
  // Without any bytes before it: Node treats a reset that arrives together with bytes as an end.
  one.resume();
  reset(other);
  const [error] = await once(one, "error");
  expect((error as NodeJS.ErrnoException).code).toBe("ECONNRESET");
  server.close();
});
