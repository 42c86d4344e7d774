// A value is read again as soon as one of its files or folders changes, and in any case after half a second.
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pause } from "../../../test/house/pause.ts";
import { RecordCache, TurnCounter } from "./record-cache.ts";

let base: string;
let now = 0;
let reads = 0;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-records-")));
  for (const folder of ["own", "around", "up/in"]) mkdirSync(join(base, folder), { recursive: true });
  for (const file of ["own/text", "around/config", "up/in/config"]) writeFileSync(join(base, file), "before");
  symlinkSync(join(base, "own/text"), join(base, "around/link"));
  [now, reads] = [1_000, 0];
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A tick of the file system's clock, and a turn of the event loop. */
const nextTick = (): Promise<void> => pause(40, "file times have the resolution of the kernel's tick");
const nextTurn = (): Promise<void> => new Promise((done) => setImmediate(() => setImmediate(done)));

function cachedRead(...sources: readonly string[]): () => number {
  const cache = new RecordCache<number>(new TurnCounter(), () => now);
  const paths = sources.map((name) => join(base, name));
  return () =>
    cache.get(
      "key",
      () => paths,
      () => ++reads,
    );
}

test("a value without a changed source is read once", async () => {
  const read = cachedRead("own/text", "around", "none");
  await nextTick();
  for (let turn = 0; turn < 5; turn++) {
    expect(read()).toBe(1);
    await nextTurn();
  }
});

test.each<[string, string, () => void]>([
  ["a file that is edited", "around/config", () => writeFileSync(join(base, "around/config"), "after")],
  ["a file that is removed", "around/config", () => rmSync(join(base, "around/config"))],
  ["a file that is replaced", "around/config", () => renameSync(join(base, "own/text"), join(base, "around/config"))],
  ["a file that is made", "own/new", () => writeFileSync(join(base, "own/new"), "")],
  ["a folder that gets an entry", "around", () => writeFileSync(join(base, "around/another"), "")],
  ["a folder that is made", "own/new", () => mkdirSync(join(base, "own/new"))],
  ["the file a link leads to", "around/link", () => writeFileSync(join(base, "own/text"), "after, and longer")],
  [
    "a folder above that is replaced",
    "up/in/config",
    () => {
      renameSync(join(base, "up"), join(base, "gone"));
      mkdirSync(join(base, "up/in"), { recursive: true });
    },
  ],
])("%s: the value is read again in the next turn", async (_title, source, change) => {
  const read = cachedRead(source);
  await nextTick();
  expect(read()).toBe(1);
  await nextTurn();
  change();
  expect(read()).toBe(2);
});

test("a source that changed within the last tick is read in every turn", async () => {
  const read = cachedRead("own/text");
  writeFileSync(join(base, "own/text"), "after");
  expect(read()).toBe(1);
  await nextTurn();
  expect(read()).toBe(2);
});

test("within one turn a value is read once, whatever changes", () => {
  const read = cachedRead("own/text");
  expect(read()).toBe(1);
  writeFileSync(join(base, "own/text"), "after");
  expect(read()).toBe(1);
});

test("a value is read again after half a second although no source changed", async () => {
  const read = cachedRead("own/text");
  await nextTick();
  expect(read()).toBe(1);
  now += 499;
  await nextTurn();
  expect(read()).toBe(1);
  now += 1;
  await nextTurn();
  expect(read()).toBe(2);
});
