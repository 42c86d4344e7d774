// Files below a folder: a long walk yields to the event loop, and finds what an uninterrupted walk finds.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ListingOptions, listFolder, listFolderInSteps } from "./listing.ts";

const filesMany = 3_000;
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-listing-"));
  mkdirSync(join(folder, "many", "deep"), { recursive: true });
  for (let at = 0; at < filesMany; at++) writeFileSync(join(folder, "many", `${at}.md`), "");
  writeFileSync(join(folder, "many", "deep", "one.md"), "");
  symlinkSync("/", join(folder, "out.md"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const asked = (entriesMax = 100_000): ListingOptions => ({
  folder,
  inside: folder,
  now: Date.now() + 60_000,
  limits: { filesMax: 100_000, depthMax: 8, entriesMax, fileBytesMax: 1_000, bytesMax: 1_000_000 },
  isWanted: (path) => path.endsWith(".md"),
  isEntered: () => true,
});
const turn = (): Promise<void> => new Promise((next) => setImmediate(next));

test("in steps the same files are found", async () => {
  const whole = listFolder(asked());
  expect(whole.files).toHaveLength(filesMany + 1);
  expect(whole.problems).toMatchObject([{ path: "out.md", code: "escapes_root" }]);
  expect(await listFolderInSteps(asked(), turn)).toEqual(whole);
});

test("in steps the limit applies as well", async () => {
  const whole = listFolder(asked(1_000));
  expect(whole.problems).toMatchObject([{ code: "too_large" }, { path: "out.md" }].slice(0, whole.problems.length));
  expect(await listFolderInSteps(asked(1_000), turn)).toEqual(whole);
});

test("other requests are answered while it scans", async () => {
  const order: string[] = [];
  const looking = listFolderInSteps(asked(), turn).then(() => order.push("listed"));
  for (let at = 0; at < 5; at++) await turn();
  order.push("another");
  await looking;
  expect(order).toEqual(["another", "listed"]);
});
