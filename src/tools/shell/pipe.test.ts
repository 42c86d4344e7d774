// A pipe between two commands: bytes in order, an end distinguished from a break, backpressure, and a writer that is
// stopped in time.
import { describe, expect, test } from "vitest";
import { BufferBudget } from "./buffer-budget.ts";
import { pipeBytesMax, pipeBytesUsual } from "./language/limits.ts";
import { Pipe } from "./pipe.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function all(pipe: Pipe): Promise<string> {
  let text = "";
  for await (const piece of pipe.read()) text += new TextDecoder().decode(piece);
  return text;
}

/** Whether a promise is settled by now. */
async function isResolved(ready: void | Promise<void>): Promise<boolean> {
  const settled = Promise.resolve(ready).then(() => true);
  return Promise.race([settled, new Promise<boolean>((done) => setImmediate(() => done(false)))]);
}

describe("a pipe", () => {
  test("returns the written bytes in order, written before or after the read", async () => {
    const room = new BufferBudget();
    const pipe = new Pipe(() => expect.unreachable(), room);
    pipe.write(bytes("a"));
    const read = all(pipe);
    await Promise.resolve();
    pipe.write(bytes("b"));
    pipe.write(bytes("c"));
    pipe.end();
    expect(await read).toBe("abc");
    expect(room.bytes).toBe(0);
  });

  test("that broke is not one that ended", async () => {
    const pipe = new Pipe(() => undefined, new BufferBudget());
    pipe.write(bytes("a"));
    pipe.break();
    pipe.end();
    await expect(all(pipe)).rejects.toThrow(/interrupted/);
  });

  test("stops its writer when it writes after the reader closed, and not before", () => {
    const stopped: string[] = [];
    const room = new BufferBudget();
    const pipe = new Pipe((why) => stopped.push(why), room);
    pipe.write(bytes("a"));
    pipe.close();
    expect([stopped, room.bytes]).toEqual([[], 0]);
    pipe.write(bytes("b"));
    expect([stopped, room.bytes]).toEqual([["reader"], 0]);
  });

  test("makes its writer wait when enough is buffered, until the reader has taken half of it", async () => {
    const pipe = new Pipe(() => expect.unreachable(), new BufferBudget());
    expect(pipe.write(new Uint8Array(pipeBytesUsual - 1))).toBeUndefined();
    const ready = pipe.write(new Uint8Array(1));
    expect(await isResolved(ready)).toBe(false);
    await pipe.read().next();
    expect(await isResolved(ready)).toBe(true);
    expect(pipe.write(bytes("a"))).toBeUndefined();
  });

  test.each<[string, (pipe: Pipe) => void]>([
    ["closes", (pipe) => pipe.close()],
    ["breaks", (pipe) => pipe.break()],
    ["ends", (pipe) => pipe.end()],
  ])("releases a waiting writer when it %s", async (_, act) => {
    const pipe = new Pipe(() => expect.unreachable(), new BufferBudget());
    const ready = pipe.write(new Uint8Array(pipeBytesUsual));
    expect(await isResolved(ready)).toBe(false);
    act(pipe);
    expect(await isResolved(ready)).toBe(true);
  });

  test("stops a writer that does not wait at the limit, of this pipe or of all of them", () => {
    const stopped: string[] = [];
    const pipe = new Pipe((why) => stopped.push(why), new BufferBudget());
    void pipe.write(new Uint8Array(pipeBytesMax));
    expect(stopped).toEqual([]);
    void pipe.write(bytes("a"));
    expect(stopped).toEqual(["full"]);
    const room = new BufferBudget(2);
    const [one, other] = [new Pipe(() => undefined, room), new Pipe((why) => stopped.push(why), room)];
    one.write(bytes("ab"));
    other.write(bytes("c"));
    expect(stopped).toEqual(["full", "full"]);
    one.close();
    expect(room.bytes).toBe(0);
  });
});
