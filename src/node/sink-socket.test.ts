import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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

/** Answers every piece that comes in with the next of these; nothing more where there is none. */
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

describe("a copy with a collector", () => {
  it("says where it stands, and counts what is acknowledged", async () => {
    await serve("4\n", "5\n6\n");
    const sink = new SocketSink(path);
    expect(await sink.open("begin")).toMatchObject({ ok: true, value: { place: 4, hash: null } });
    const kept: number[] = [];
    expect(await sink.keep("x\n", 6, (place) => kept.push(place))).toEqual({ ok: true, value: null });
    expect([kept, sink.trouble]).toEqual([[5, 6], null]);
    sink.close();
    expect(sink.trouble).not.toBeNull();
  });

  it.each<readonly [string, string]>([
    ["7\n", "got entries up to 6"],
    ["3\n", "after it had kept up to 4"],
    ["ok\n", "no place"],
    ["-1\n", "no place"],
    ["06\n", "no place"],
    ["99999999999999999999\n", "no place"],
    ["6".repeat(100), "no place"],
    ["hang up", "hung up"],
  ])("%j is not believed", async (answer, message) => {
    await serve("4\n", answer);
    const sink = new SocketSink(path);
    await sink.open("begin");
    expect(await sink.keep("x\n", 6, () => undefined)).toEqual({
      ok: false,
      message: expect.stringContaining(message),
    });
    expect(sink.trouble).toContain(message);
    expect(await sink.keep("y\n", 7, () => undefined)).toMatchObject({ ok: false });
  });

  it("one that never answers hangs alone, and closing ends the wait", async () => {
    await serve();
    const sink = new SocketSink(path);
    const opening = sink.open("begin");
    setTimeout(() => sink.close(), 20);
    expect(await opening).toMatchObject({ ok: false });
  });

  it("nobody listens, or it is no socket: refused", async () => {
    expect(await new SocketSink(path).open("begin")).toMatchObject({ ok: false });
    writeFileSync(path, "");
    expect(await new SocketSink(path).open("begin")).toEqual({
      ok: false,
      message: expect.stringContaining("no socket"),
    });
  });
});
