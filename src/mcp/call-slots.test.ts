// Concurrent calls: the limit, the order of waiting calls, and cancellation while waiting.
import { expect, test } from "vitest";
import { CallSlots } from "./call-slots.ts";

test("slots are given in order, and a cancelled call leaves the queue", async () => {
  const slots = new CallSlots(1);
  const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
  const order: string[] = [];
  expect(await slots.acquire(first.signal)).toBe(true);
  const waiting = [
    slots.acquire(second.signal).then((is) => order.push(`second ${is}`)),
    slots.acquire(third.signal).then((is) => order.push(`third ${is}`)),
  ];
  second.abort();
  await waiting[0];
  slots.release();
  await waiting[1];
  expect(order).toEqual(["second false", "third true"]);
  slots.release();
  expect(await slots.acquire(first.signal)).toBe(true);
  expect(await slots.acquire(second.signal)).toBe(false);
});

test("a slot passed to a call that is cancelled at the same time is released once", async () => {
  const slots = new CallSlots(1);
  const late = new AbortController();
  expect(await slots.acquire(new AbortController().signal)).toBe(true);
  const waiting = slots.acquire(late.signal);
  slots.release();
  late.abort();
  expect(await waiting).toBe(true);
  slots.release();
  expect(await slots.acquire(new AbortController().signal)).toBe(true);
});
