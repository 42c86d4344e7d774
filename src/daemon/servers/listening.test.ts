import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ListenEnd, Listening } from "./listening.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Connection {
  readonly at: number;
  readonly signal: AbortSignal;
  opened(): void;
  end(how: ListenEnd): void;
}

function listening(): { one: Listening; connections: Connection[]; events: string[] } {
  const connections: Connection[] = [];
  const events: string[] = [];
  const one = new Listening({
    connect: (signal, opened) =>
      new Promise((end) => {
        connections.push({ at: performance.now(), signal, opened, end });
      }),
    missed: () => void events.push("missed"),
    refused: () => void events.push("refused"),
  });
  return { one, connections, events };
}

test("a connection that is lost is opened again after a pause that doubles up to a minute, and what was missed is told", async () => {
  const { one, connections, events } = listening();
  connections[0]?.opened();
  expect([one.isOpen, events]).toEqual([true, []]);
  const pauses: number[] = [];
  for (let lost = 1; lost < 10; lost++) {
    const from = performance.now();
    connections.at(-1)?.end("lost");
    while (connections.length === lost) await vi.advanceTimersByTimeAsync(500);
    pauses.push((connections.at(-1)?.at ?? 0) - from);
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  expect(one.isOpen).toBe(false);
  connections.at(-1)?.opened();
  expect([one.isOpen, events]).toEqual([true, ["missed"]]);
});

test("the backoff starts anew after a connection that lived for a while", async () => {
  const { connections } = listening();
  for (let lost = 0; lost < 4; lost++) {
    await vi.advanceTimersByTimeAsync(31_000);
    connections.at(-1)?.end("lost");
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(connections.length).toBe(5);
});

test("a server that refuses is not asked again", async () => {
  const { connections, events } = listening();
  connections[0]?.end("refused");
  await vi.advanceTimersByTimeAsync(600_000);
  expect([connections.length, events]).toEqual([1, ["refused"]]);
});

test("nothing goes on once it is stopped", async () => {
  const { one, connections, events } = listening();
  connections[0]?.opened();
  one.stop();
  expect([one.isOpen, connections[0]?.signal.aborted]).toEqual([false, true]);
  connections[0]?.end("lost");
  await vi.advanceTimersByTimeAsync(600_000);
  expect([connections.length, events]).toEqual([1, []]);
});

test("one that is replaced stays open for a moment, and is not opened again", async () => {
  const { one, connections } = listening();
  one.replaced(2_000);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(connections[0]?.signal.aborted).toBe(false);
  connections[0]?.end("lost");
  await vi.advanceTimersByTimeAsync(600_000);
  expect([connections.length, connections[0]?.signal.aborted]).toEqual([1, true]);
});
