// Removes locks that a killed daemon left in a repository, and no lock of another git.
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GitLockJournal, removeStaleLocks } from "./git-lock-journal.ts";

let folder: string;
let notes: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-locks-"));
  notes = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const note = (line: string): void => void notes.push(line);
const lock = (): string => join(folder, "index.lock");

test("a lock that was taken is removed, whatever its content", async () => {
  const journal = new GitLockJournal(folder, [".git"]);
  journal.want([lock()]);
  writeFileSync(lock(), "DIRC");
  journal.take([lock()]);
  await removeStaleLocks(folder, note);
  expect([existsSync(lock()), notes]).toEqual([false, []]);
});

test("a lock that was only requested stays where another git has written it, and is reported", {
  timeout: 60_000,
}, async () => {
  new GitLockJournal(folder, [".git"]).want([lock()]);
  writeFileSync(lock(), "DIRC");
  await removeStaleLocks(folder, note);
  expect([existsSync(lock()), notes.length]).toEqual([true, 1]);
});

test("an empty lock that was only requested is removed once no process has it open", { timeout: 60_000 }, async () => {
  const journal = new GitLockJournal(folder, [".git"]);
  journal.want([lock()]);
  const file = openSync(lock(), "wx");
  await removeStaleLocks(folder, note);
  expect(existsSync(lock())).toBe(true);
  closeSync(file);
  journal.want([lock()]);
  writeFileSync(lock(), "");
  await removeStaleLocks(folder, note);
  expect(existsSync(lock())).toBe(false);
});

test("a lock of a cleared journal stays", async () => {
  const journal = new GitLockJournal(folder, [".git"]);
  journal.want([lock()]);
  journal.take([lock()]);
  journal.clear();
  writeFileSync(lock(), "");
  await removeStaleLocks(folder, note);
  expect(existsSync(lock())).toBe(true);
});
