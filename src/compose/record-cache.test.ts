// What was read from authority files is kept while they are as they were, and not a moment longer than promised.
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FolderWatch } from "./folder-watch.ts";
import { RecordCache, RecordCaches, type Sources } from "./record-cache.ts";

let base: string;
let now = 0;
let reads = 0;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-records-")));
  for (const folder of ["own", "around", "deaf"]) mkdirSync(join(base, folder));
  for (const file of ["own/text", "around/config", "deaf/config"]) writeFileSync(join(base, file), "before");
  [now, reads] = [1_000, 0];
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A turn of the loop, and long enough for a file to be no longer young. */
const settled = (): Promise<void> => new Promise((done) => setTimeout(done, 40));
const turned = (): Promise<void> => new Promise((done) => setImmediate(() => setImmediate(done)));

function caching(parts: Partial<Sources>): { readonly watch: FolderWatch; read(): number } {
  const watch = new FolderWatch([join(base, "deaf")]);
  const cache = new RecordCache<number>(new RecordCaches(watch, () => now));
  const sources: Sources = { text: null, files: [], folders: [], ...parts };
  return {
    watch,
    // As a record is: what was looked at in this turn already is not looked at again.
    read: () =>
      cache.seen("key") ??
      cache.get(
        "key",
        () => sources,
        () => ++reads,
      ),
  };
}

async function rung({ watch }: { readonly watch: FolderWatch }, before: number): Promise<void> {
  // Bounded by the test's own time.
  while (watch.rings === before) await new Promise((done) => setTimeout(done, 5));
}

test("what nobody changed is read once, in every turn", async () => {
  const cached = caching({
    text: join(base, "own/text"),
    files: [join(base, "around/config"), join(base, "deaf/config")],
  });
  await settled();
  for (let turn = 0; turn < 5; turn++) {
    expect(cached.read()).toBe(1);
    await turned();
  }
});

test.each(["own/text", "deaf/config"])(
  "an edit of %s, for which nobody rings, holds from the next turn on",
  async (file) => {
    const cached = caching({ text: join(base, "own/text"), files: [join(base, "deaf/config")] });
    await settled();
    expect(cached.read()).toBe(1);
    await turned();
    writeFileSync(join(base, file), "after");
    expect(cached.read()).toBe(2);
  },
);

test.each<[string, () => void]>([
  ["edited", () => writeFileSync(join(base, "around/config"), "after")],
  ["removed", () => rmSync(join(base, "around/config"))],
  ["replaced", () => renameSync(join(base, "own/text"), join(base, "around/config"))],
])("a watched file that was %s is read again as soon as it rings", async (_how, change) => {
  const cached = caching({ files: [join(base, "around/config")] });
  await settled();
  expect(cached.read()).toBe(1);
  await turned();
  const before = cached.watch.rings;
  change();
  await rung(cached, before);
  expect(cached.read()).toBe(2);
});

test("what is put into a folder rings, and so does a folder that was not there", async () => {
  const cached = caching({ folders: [join(base, "around"), join(base, "own/new")] });
  await settled();
  expect(cached.read()).toBe(1);
  await turned();
  let before = cached.watch.rings;
  writeFileSync(join(base, "around/another"), "");
  await rung(cached, before);
  expect(cached.read()).toBe(2);
  await settled();
  const known = cached.read();
  await turned();
  before = cached.watch.rings;
  mkdirSync(join(base, "own/new"));
  await rung(cached, before);
  expect(cached.read()).toBe(known + 1);
});

test.each<[string, () => void]>([
  ["what a link leads to", () => writeFileSync(join(base, "own/text"), "after, and longer")],
  [
    "the folder above the watched one",
    () => {
      renameSync(join(base, "up"), join(base, "gone"));
      mkdirSync(join(base, "up/in"), { recursive: true });
    },
  ],
])("%s rings for nobody, and is seen a fifth of a second later", async (_what, change) => {
  mkdirSync(join(base, "up/in"), { recursive: true });
  writeFileSync(join(base, "up/in/config"), "before");
  symlinkSync(join(base, "own/text"), join(base, "around/link"));
  const cached = caching({ files: [join(base, "around/link"), join(base, "up/in/config")] });
  await settled();
  expect(cached.read()).toBe(1);
  await turned();
  change();
  await settled();
  now += 200;
  expect(cached.read()).toBe(2);
});

test("whatever the files look like, they are read again within half a second", async () => {
  const cached = caching({ text: join(base, "own/text") });
  await settled();
  expect(cached.read()).toBe(1);
  now += 500;
  await turned();
  expect(cached.read()).toBe(2);
});
