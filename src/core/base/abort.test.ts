// Listeners of cancellation: called once, also for a signal that is aborted already, and never after they are removed.
import { expect, test } from "vitest";
import { linkedController, onAbort } from "./abort.ts";

test("a listener is called once, when the signal aborts", () => {
  const controller = new AbortController();
  let calls = 0;
  onAbort(controller.signal, () => calls++);
  expect(calls).toBe(0);
  controller.abort();
  controller.abort();
  expect(calls).toBe(1);
});

test("a listener of an aborted signal is called at once", () => {
  let calls = 0;
  onAbort(AbortSignal.abort(), () => calls++)();
  expect(calls).toBe(1);
});

test("a removed listener is not called", () => {
  const controller = new AbortController();
  let calls = 0;
  onAbort(controller.signal, () => calls++)();
  controller.abort();
  expect(calls).toBe(0);
});

test.each([0, 1])("a controller follows signal %i of two, and does not abort it", (aborted) => {
  const signals = [new AbortController(), new AbortController()];
  const { controller } = linkedController(...signals.map(({ signal }) => signal));
  expect(controller.signal.aborted).toBe(false);
  signals[aborted]?.abort();
  expect(controller.signal.aborted).toBe(true);
  expect(signals[1 - aborted]?.signal.aborted).toBe(false);
});

test("a controller that follows an aborted signal is aborted", () => {
  expect(linkedController(AbortSignal.abort()).controller.signal.aborted).toBe(true);
});

test("a released controller follows nothing, and can still be aborted", () => {
  const outer = new AbortController();
  const { controller, release } = linkedController(outer.signal);
  release();
  outer.abort();
  expect(controller.signal.aborted).toBe(false);
  controller.abort();
  expect(controller.signal.aborted).toBe(true);
});
