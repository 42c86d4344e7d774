import { expect, test } from "vitest";
import { Bucket } from "./bucket.ts";
import { Denials } from "./denials.ts";
import { denialsMax } from "./limits.ts";

test("a denial is reported once and counted as often as it is tried", () => {
  const denials = new Denials();
  expect(denials.add("revoked", "net.connect a:1", "daemon")).toBe(true);
  expect(denials.add("revoked", "net.connect a:1", "daemon")).toBe(false);
  expect(denials.add("revoked", "net.connect a:1", "daemon", false)).toBe(false);
  expect(denials.add("expired", "net.connect a:1", "daemon")).toBe(true);
  expect(denials.list.map(({ code, times }) => `${code} ${times}`)).toEqual(["revoked 2", "expired 1"]);
});

test("the number of named denials is limited; the rest is counted", () => {
  const denials = new Denials();
  for (let at = 0; at < denialsMax + 3; at++) denials.add("revoked", `net.connect a:${at + 1}`, "daemon");
  expect([denials.list.length, denials.unnamed]).toEqual([denialsMax, 3]);
  denials.add("revoked", "net.connect a:1", "daemon");
  expect(denials.list[0]?.times).toBe(2);
});

test("a bucket gives what it holds, and what has been refilled since", () => {
  const bucket = new Bucket({ burst: 2, perSecond: 10 }, 1000);
  expect([1000, 1000, 1000, 1050, 1100, 1100].map((now) => bucket.take(now))).toEqual([
    ...[true, true, false, false, true, false],
  ]);
});

test("a bucket holds no more than its capacity, and a clock that goes back fills nothing", () => {
  const bucket = new Bucket({ burst: 1, perSecond: 10 }, 0);
  expect([90_000, 90_000, 10, 20].map((now) => bucket.take(now))).toEqual([true, false, false, false]);
});
