import { expect, test } from "vitest";
import { ConnectionMemory } from "./connection.ts";
import { InputQueue } from "./input-queue.ts";
import { connectionMemoryBytesMax } from "./limits.ts";

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);

async function all(queue: InputQueue): Promise<readonly (readonly number[])[]> {
  const parts: number[][] = [];
  for await (const part of queue) parts.push([...part]);
  return parts;
}

test("returns items in order, pushed before and during a wait, up to the end", async () => {
  let taken = 0;
  const queue = new InputQueue((count) => {
    taken += count;
  });
  queue.push(bytes(1, 2));
  expect([queue.bytes, taken]).toEqual([2, 0]);
  const given = all(queue);
  await Promise.resolve();
  queue.push(bytes());
  queue.push(bytes(3));
  queue.push(bytes(4));
  queue.end();
  queue.push(bytes(5));
  expect(await given).toEqual([[1, 2], [3], [4]]);
  expect([queue.bytes, taken]).toEqual([0, 4]);
});

test("gives nothing more once it is dropped, and a reader that stops drops it", async () => {
  const queue = new InputQueue(() => undefined);
  queue.push(bytes(1));
  queue.drop();
  expect([queue.bytes, await all(queue)]).toEqual([0, []]);
  const left = new InputQueue(() => undefined);
  left.push(bytes(1));
  left.push(bytes(2));
  for await (const _ of left) break;
  expect([left.bytes, left.isOver]).toEqual([0, true]);
});

test("all connections together hold no more than the limit; one that holds less than before is never refused", () => {
  const held = new ConnectionMemory();
  expect(held.change(0, connectionMemoryBytesMax)).toBe(true);
  expect(held.change(0, 1)).toBe(false);
  expect(held.change(5, 5)).toBe(true);
  expect(held.change(connectionMemoryBytesMax, 0)).toBe(true);
  expect(held.total).toBe(1);
});
