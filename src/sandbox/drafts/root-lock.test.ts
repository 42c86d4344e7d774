import { expect, test } from "vitest";
import { RootLock } from "./root-lock.ts";

/** Work that starts when the lock allows it and ends on request. */
function held(
  lock: RootLock,
  root: string,
  order: string[],
): { readonly end: () => void; readonly done: Promise<void> } {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const done = lock.run(root, async () => {
    order.push(root);
    await ended;
  });
  return { end, done };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("disjoint roots are worked on concurrently", async () => {
  const order: string[] = [];
  const lock = new RootLock();
  const both = [held(lock, "/a/b", order), held(lock, "/a/bc", order)];
  await turn();
  expect(order).toEqual(["/a/b", "/a/bc"]);
  for (const one of both) one.end();
  await Promise.all(both.map(({ done }) => done));
});

test("a root waits for the same one, for one around it and for one inside it, in order", async () => {
  const order: string[] = [];
  const lock = new RootLock();
  const all = ["/a/b", "/a", "/a/c", "/a/b"].map((root) => held(lock, root, order));
  await turn();
  expect(order).toEqual(["/a/b"]);
  all[0]?.end();
  await turn();
  expect(order).toEqual(["/a/b", "/a"]);
  all[1]?.end();
  await turn();
  expect(order).toEqual(["/a/b", "/a", "/a/c", "/a/b"]);
  for (const one of all) one.end();
  await Promise.all(all.map(({ done }) => done));
});

test("work that throws releases the root", async () => {
  const lock = new RootLock();
  await expect(lock.run("/a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await lock.run("/a", async () => 1)).toBe(1);
});
