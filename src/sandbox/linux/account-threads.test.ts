// The threads that a limit of processes has to leave room for.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { accountThreads } from "./account-threads.ts";

const own = process.getuid?.() ?? 0;
let proc = "";
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), "ambit-threads-"));
});
afterEach(() => rmSync(proc, { recursive: true }));

function write(total: number, ...processes: readonly (readonly [pid: string, threads: number])[]): void {
  writeFileSync(join(proc, "loadavg"), `0.10 0.20 0.30 2/${total} 4711\n`);
  for (const [pid, threads] of processes) {
    mkdirSync(join(proc, pid));
    mkdirSync(join(proc, pid, "task"));
    for (let at = 0; at < threads; at++) mkdirSync(join(proc, pid, "task", String(at)));
  }
}

test("threads of other accounts are left out", () => {
  write(17, ["1", 5], ["2", 7], ["3", 5], ["self", 9]);
  expect(accountThreads(own + 1, proc)).toBe(64);
});

test("threads that are not shown may be of this account", () => {
  write(100, ["1", 5], ["2", 7]);
  writeFileSync(join(proc, "3"), "no folder");
  expect(accountThreads(own + 1, proc)).toBe(88 + 64);
});

test("of the machine as it is, threads of an account with one process are fewer than all", async () => {
  const all = accountThreads(0);
  expect(all).toBeGreaterThan(10);
  if (own !== 0) return expect(accountThreads(own)).toBeGreaterThan(64);
  const child = spawn("sleep", ["1000"], { uid: 54_322 });
  await once(child, "spawn");
  const counted = accountThreads(54_322);
  child.kill();
  await once(child, "exit");
  expect(counted).toBeGreaterThan(64);
});
