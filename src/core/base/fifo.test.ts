// The queue returns what was pushed, in order, and does not get slower with its length.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Fifo } from "./fifo.ts";

test("behaves like an array that is pushed to and shifted from", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer(), { nil: null }), { maxLength: 400 }), (steps) => {
      const [queue, array] = [new Fifo<number>(), [] as number[]];
      for (const step of steps) {
        if (step === null) expect(queue.take()).toBe(array.shift());
        else {
          queue.push(step);
          array.push(step);
        }
        expect([queue.length, queue.last]).toEqual([array.length, array.at(-1)]);
      }
    }),
  );
});

// The test's timeout is the limit: an array that shifts each time would take minutes.
test("half a million elements are taken one by one", () => {
  const queue = new Fifo<number>();
  for (let at = 0; at < 500_000; at++) queue.push(at);
  for (let at = 0; at < 500_000; at++) if (queue.take() !== at) throw new Error(`not ${at}`);
  expect(queue.take()).toBeUndefined();
});
