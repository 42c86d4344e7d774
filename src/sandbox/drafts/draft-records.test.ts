// Records of drafts on a real disk: waiting changes are listed where there are some, and a record exists before it is
// flushed.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DraftFolders } from "./draft-folders.ts";
import { type DraftRecord, DraftRecords } from "./draft-records.ts";

let state: string;
let folders: DraftFolders;
let records: DraftRecords;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "ambit-records-"));
  folders = new DraftFolders(state);
  records = new DraftRecords(folders.folder);
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

function record(draft: string): DraftRecord {
  return {
    ...{ draft, state: "landed", agent: "a", workspace: null, root: "/r", call: "c", command: ["true"], at: 1 },
    ...{ bytes: 0, landed: 1, kept: [], keptMore: 0, owner: "o", rootDevice: "1", rootInode: "2", start: "3" },
    ...{ inodes: 1, landings: [1], masked: [], needsReview: false, isSealed: true, repositories: [] },
  };
}

test("a list of pending changes is written if there are any, and replaces an older one", () => {
  const { id, path } = folders.make();
  records.write(record(id), []);
  expect(existsSync(join(path, "kept.json"))).toBe(false);
  records.write(record(id), [["file a", "not_landed"]]);
  expect(records.keptPaths(id)).toEqual(new Map([["file a", "not_landed"]]));
  records.write(record(id), []);
  expect(records.keptPaths(id)).toEqual(new Map());
  expect(new DraftRecords(folders.folder).read(id)).toEqual(record(id));
});

test("an empty draft is removed with its record and the kernel's leftovers", async () => {
  const { id, path } = folders.make();
  records.begin(record(id));
  mkdirSync(join(path, "work", "work", "incompat", "volatile"), { recursive: true });
  await folders.remove(id);
  expect(existsSync(path)).toBe(false);
});

test("a discarded draft is gone at once, and its files afterwards", async () => {
  const { id, path } = folders.make();
  mkdirSync(join(path, "copy", "deep"), { recursive: true });
  writeFileSync(join(path, "copy", "deep", "file"), "text");
  folders.discard(id);
  expect(existsSync(path)).toBe(false);
  expect(folders.list()).toEqual([]);
  await folders.settled();
  expect(readdirSync(folders.folder)).toEqual([]);
});

test("what a crash left of a discarded draft is removed at the next start, and no draft is", async () => {
  const { id } = folders.make();
  mkdirSync(join(folders.folder, `gone-${id}`, "copy"), { recursive: true });
  const again = new DraftFolders(state);
  again.clearDiscarded();
  await again.settled();
  expect(readdirSync(folders.folder)).toEqual([id]);
});
