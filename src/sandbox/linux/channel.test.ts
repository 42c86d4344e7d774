// The control channel under backpressure: a consumer that is not ready pauses reading, for its own command alone.
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { frameOf } from "../plan/start/frame.ts";
import { Channel } from "./channel.ts";

/** The near end of a socket: the test pushes what the sandbox sends. */
class FakeSocket extends Duplex {
  override _read(): void {}
  override _write(_: unknown, __: unknown, done: () => void): void {
    done();
  }
}

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

function open(): { socket: FakeSocket; channel: Channel; text(): string } {
  const socket = new FakeSocket();
  let text = "";
  const channel = new Channel(socket, {
    answered: (answer) => {
      if (answer.kind === "output") text += new TextDecoder().decode(answer.bytes);
    },
    ended: () => undefined,
  });
  return { socket, channel, text: () => text };
}

const say = (socket: FakeSocket, text: string): void => void socket.push(frameOf("O", new TextEncoder().encode(text)));

test("nothing is read until every consumer is ready", async () => {
  const { socket, channel, text } = open();
  const ready: (() => void)[] = [];
  for (const _ of [1, 2]) channel.hold(new Promise((done) => ready.push(done)));
  say(socket, "a");
  ready.pop()?.();
  await turn();
  expect([text(), channel.isPaused]).toEqual(["", true]);
  ready.pop()?.();
  await turn();
  expect([text(), channel.isPaused]).toEqual(["a", false]);
});

test("a command that is being ended is read to its end", async () => {
  const { socket, channel, text } = open();
  channel.hold(new Promise(() => undefined));
  channel.release();
  say(socket, "a");
  await turn();
  expect(text()).toBe("a");
});

test("a consumer of an ended command blocks nothing of the next one, also when it gets ready later", async () => {
  const { socket, channel, text } = open();
  let wasReady = (): void => undefined;
  channel.hold(
    new Promise((done) => {
      wasReady = done;
    }),
  );
  channel.commandEnded();
  say(socket, "a");
  await turn();
  expect([text(), channel.isPaused]).toEqual(["a", false]);
  channel.hold(new Promise(() => undefined));
  wasReady();
  say(socket, "b");
  await turn();
  expect([text(), channel.isPaused]).toEqual(["a", true]);
});
