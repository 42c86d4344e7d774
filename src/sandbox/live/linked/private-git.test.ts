// A ref of the person's is written into the private git folder only over the value that was seen, and by a look at its own name alone.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TreeFolder } from "../tree-folder.ts";
import type { GitState } from "./git-state.ts";
import { PrivateGit } from "./private-git.ts";

const [OLD, NEW, OTHER] = ["1", "2", "3"].map((digit) => digit.repeat(40)) as [string, string, string];
const NAME = "refs/heads/a";
let folder: string;
let copy: TreeFolder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-private-git-"));
  mkdirSync(join(folder, ".git/refs/heads"), { recursive: true });
  copy = TreeFolder.open(folder);
});
afterEach(() => {
  copy.close();
  rmSync(folder, { recursive: true });
});

const write = (name: string, text: string | Buffer): void => writeFileSync(join(folder, ".git", name), text);
const seen = (ref: string | null): GitState => ({
  ...{ head: "", stashLog: "", index: "absent" },
  refs: new Map(ref === null ? [] : [[NAME, ref]]),
});

test.each([
  ["absent", null, null, null, true],
  ["loose", `${OLD}\n`, null, OLD, true],
  ["packed", null, OLD, OLD, true],
  ["loose over packed", `${OLD}\n`, OTHER, OLD, true],
  ["loose, and was absent", `${OLD}\n`, null, null, false],
  ["packed, and was absent", null, OLD, null, false],
  ["gone, and was there", null, null, OLD, false],
  ["another one", `${OTHER}\n`, OLD, OLD, false],
])("a ref that is %s", (_, loose, packed, before, isWritten) => {
  if (loose !== null) write(NAME, loose);
  write("packed-refs", packed === null ? "" : `${packed} ${NAME}\n`);
  expect(new PrivateGit(copy, "sha1").writeRef(NAME, NEW, seen(before))).toBe(isWritten);
  if (isWritten) expect(readFileSync(join(folder, ".git", NAME), "utf8")).toBe(`${NEW}\n`);
});

test("what else is in the folder does not matter for one ref", () => {
  writeFileSync(Buffer.from(`${folder}/.git/refs/heads/\xe9`, "latin1"), "");
  const git = new PrivateGit(copy, "sha1");
  expect([git.list(), git.writeRef(NAME, NEW, seen(null))]).toEqual([null, true]);
});
