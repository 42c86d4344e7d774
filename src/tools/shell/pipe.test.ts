// Between two commands: bytes in order, an end that is told from a break, and a writer that is stopped in time.
import { describe, expect, test } from "vitest";
import { pipeBytesMax } from "./limits.ts";
import { Pipe } from "./pipe.ts";
import { WaitingRoom } from "./waiting-room.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function all(pipe: Pipe): Promise<string> {
  let text = "";
  for await (const piece of pipe.read()) text += new TextDecoder().decode(piece);
  return text;
}

describe("a pipe", () => {
  test("gives what was written, in order, whether it was there before or comes later", async () => {
    const room = new WaitingRoom();
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
    const pipe = new Pipe(() => undefined, new WaitingRoom());
    pipe.write(bytes("a"));
    pipe.break();
    pipe.end();
    await expect(all(pipe)).rejects.toThrow(/broke/);
  });

  test("stops its writer when it writes to nobody, and not before", () => {
    const stopped: string[] = [];
    const room = new WaitingRoom();
    const pipe = new Pipe((why) => stopped.push(why), room);
    pipe.write(bytes("a"));
    pipe.close();
    expect([stopped, room.bytes]).toEqual([[], 0]);
    pipe.write(bytes("b"));
    expect([stopped, room.bytes]).toEqual([["reader"], 0]);
  });

  test("stops its writer when more waits than may, here or anywhere", () => {
    const stopped: string[] = [];
    const pipe = new Pipe((why) => stopped.push(why), new WaitingRoom());
    pipe.write(new Uint8Array(pipeBytesMax));
    expect(stopped).toEqual([]);
    pipe.write(bytes("a"));
    expect(stopped).toEqual(["full"]);
    const room = new WaitingRoom(2);
    const [one, other] = [new Pipe(() => undefined, room), new Pipe((why) => stopped.push(why), room)];
    one.write(bytes("ab"));
    other.write(bytes("c"));
    expect(stopped).toEqual(["full", "full"]);
    one.close();
    expect(room.bytes).toBe(0);
  });
});
