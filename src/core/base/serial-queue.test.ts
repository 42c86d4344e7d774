import { expect, test } from "vitest";
import { SerialQueue } from "./serial-queue.ts";

test("tasks run one at a time, in order, also after one that fails", async () => {
  const queue = new SerialQueue();
  const steps: string[] = [];
  const task =
    (name: string, fails = false) =>
    async (): Promise<string> => {
      steps.push(`${name} begins`);
      await Promise.resolve();
      steps.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const all = await Promise.allSettled([queue.run(task("a")), queue.run(task("b", true)), queue.run(task("c"))]);
  expect(steps).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
