import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pause } from "../../../test/house/pause.ts";
import { SocketSink } from "./sink-socket.ts";

let folder = "";
let path = "";
let server: Server | null = null;
const sockets = new Set<Socket>();
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-sink-")));
  path = join(folder, "s");
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise<void>((done) => (server === null ? done() : server.close(() => done())));
  server = null;
  rmSync(folder, { recursive: true, force: true });
});

/** Answers every batch with the next of these; not at all once there are none left. */
function serve(...answers: readonly string[]): Promise<void> {
  const rest = [...answers];
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", () => {
      const answer = rest.shift();
      if (answer === "hang up") socket.destroy();
      else if (answer !== undefined) socket.write(answer);
    });
  });
  return new Promise((done) => server?.listen(path, () => done()));
}

const hash = (place: number): string => String(place % 10).repeat(64);
const said = (place: number): string => `${place} ${hash(place)}\n`;

describe("a copy with a collector", () => {
  it("reports its position with the hash, and counts acknowledged entries", async () => {
    await serve(said(4), `${said(5)}${said(6)}`);
    const sink = new SocketSink(path);
    expect(await sink.open("begin")).toMatchObject({ ok: true, value: { place: 4, hash: hash(4) } });
    const kept: number[] = [];
    const ours = (place: number, its: string): boolean => kept.push(place) > 0 && its === hash(place);
    expect(await sink.keep("x\n", 6, ours)).toEqual({ ok: true, value: null });
    expect([kept, await sink.look()]).toEqual([[5, 6], null]);
    sink.close();
    expect(await sink.look()).not.toBeNull();
  });

  it("an empty copy is 0 alone, and a position without its hash is invalid", async () => {
    await serve("0\n", "4\n");
    const sink = new SocketSink(path);
    expect(await sink.open("begin")).toMatchObject({ ok: true, value: { place: null, hash: null } });
    expect(await sink.open("begin")).toEqual({
      ok: false,
      message: expect.stringContaining("it must answer PLACE HASH"),
    });
  });

  it("an acknowledgement of another entry does not count", async () => {
    await serve(said(4), said(6));
    const sink = new SocketSink(path);
    await sink.open("begin");
    const answer = await sink.keep("x\n", 6, () => false);
    expect(answer).toEqual({ ok: false, message: expect.stringContaining("a different entry 6") });
  });

  it.each<readonly [string, string]>([
    [said(7), "was sent entries only up to 6"],
    [said(3), "had acknowledged entries up to 4"],
    ["6\n", "without the hash"],
    [`6 ${"A".repeat(64)}\n`, "not the number of an entry"],
    [`0 ${"0".repeat(64)}\n`, "not the number of an entry"],
    [said(4).repeat(2000), "keeps repeating"],
    ["ok\n", "not the number of an entry"],
    ["-1\n", "not the number of an entry"],
    ["06\n", "not the number of an entry"],
    ["99999999999999999999\n", "not the number of an entry"],
    ["6".repeat(100), "not the number of an entry"],
    ["hang up", "closed the connection"],
  ])("%j is not a valid answer", async (answer, message) => {
    await serve(said(4), answer);
    const sink = new SocketSink(path);
    await sink.open("begin");
    expect(await sink.keep("x\n", 6, () => true)).toEqual({
      ok: false,
      message: expect.stringContaining(message),
    });
    expect(await sink.look()).toContain(message);
    expect(await sink.keep("y\n", 7, () => true)).toMatchObject({ ok: false });
  });

  it("one that never answers hangs alone, and closing ends the wait", async () => {
    await serve();
    const sink = new SocketSink(path);
    const opening = sink.open("begin");
    setTimeout(() => sink.close(), 20);
    expect(await opening).toMatchObject({ ok: false });
  });

  it("closing while it opens ends the wait at once, and nothing is connected afterwards", async () => {
    await serve(said(4));
    const sink = new SocketSink(path);
    const opening = sink.open("begin");
    sink.close();
    expect(await opening).toEqual({ ok: false, message: "it was closed" });
    await pause(50, "a connection that is made nevertheless is there by then");
    expect(sockets.size).toBe(0);
    expect(sink.trouble).not.toBeNull();
  }, 10_000);

  it("opening again while it opens leaves one connection, the later one's", async () => {
    await serve(said(4), said(4));
    const sink = new SocketSink(path);
    const [first, second] = [sink.open("begin"), sink.open("begin")];
    expect(await first).toMatchObject({ ok: false });
    expect(await second).toMatchObject({ ok: true, value: { place: 4 } });
    expect(sockets.size).toBe(1);
    sink.close();
  }, 10_000);

  it("no listener, or not a socket: refused", async () => {
    expect(await new SocketSink(path).open("begin")).toMatchObject({ ok: false });
    writeFileSync(path, "");
    expect(await new SocketSink(path).open("begin")).toEqual({
      ok: false,
      message: expect.stringContaining("not a socket"),
    });
  });
});
