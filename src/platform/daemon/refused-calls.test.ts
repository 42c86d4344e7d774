// Calls that no daemon decided: stored within limits, handed over once, and files of other users are not read.
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RefusedCall } from "../../core/ports/daemon/refused-call.ts";
import { keepRefusedCall, spoolBytesMax, takeRefusedCalls } from "./refused-calls.ts";

let state = "";
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "ambit-spool-"));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const path = (): string => join(state, "refused-calls.jsonl");
const call = (tool: string): RefusedCall => ({
  at: 1,
  agent: "coder",
  tool,
  face: "call",
  cwd: "/w",
  reason: "no daemon",
});

test("stored calls are handed over again until they are logged, and then no more", () => {
  expect([keepRefusedCall(state, call("a")), keepRefusedCall(state, call("b"))]).toEqual([true, true]);
  expect(takeRefusedCalls(state).calls).toEqual([call("a"), call("b")]);
  keepRefusedCall(state, call("c"));
  const again = takeRefusedCalls(state);
  expect(again.calls).toEqual([call("a"), call("b")]);
  again.done();
  const next = takeRefusedCalls(state);
  expect(next.calls).toEqual([call("c")]);
  next.done();
  expect(takeRefusedCalls(state).calls).toEqual([]);
});

test("the number is limited, and reaching the limit is reported", () => {
  let kept = 0;
  while (kept < 10_000 && keepRefusedCall(state, { ...call("a"), reason: "x".repeat(10_000) })) kept++;
  expect(kept).toBeLessThan(1000);
  expect(readFileSync(path()).length).toBeLessThanOrEqual(spoolBytesMax);
  const taken = takeRefusedCalls(state);
  expect([taken.calls.length, taken.isFull]).toEqual([kept, true]);
});

test("invalid lines are ignored, and the others count", () => {
  keepRefusedCall(state, call("a"));
  const good = readFileSync(path(), "utf8");
  writeFileSync(path(), `no JSON\n{"at":"x"}\n[]\n${good}{"at":1,"agent":7,"face":"","cwd":"","reason":""}\ntorn`);
  expect(takeRefusedCalls(state).calls).toEqual([call("a")]);
});

test("a file that others can read or write, and a link, are left alone", () => {
  keepRefusedCall(state, call("a"));
  chmodSync(path(), 0o644);
  expect(keepRefusedCall(state, call("b"))).toBe(false);
  expect(takeRefusedCalls(state).calls).toEqual([]);
  rmSync(join(state, "refused-calls.taken"), { force: true });
  writeFileSync(join(state, "elsewhere"), "", { mode: 0o600 });
  symlinkSync(join(state, "elsewhere"), path());
  expect(keepRefusedCall(state, call("c"))).toBe(false);
  expect(readFileSync(join(state, "elsewhere"), "utf8")).toBe("");
});
