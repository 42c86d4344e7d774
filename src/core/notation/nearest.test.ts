import { expect, test } from "vitest";
import { nearestName } from "./nearest.ts";

const NAMES = ["records.read", "records.create", "net.get", "net.post", "paths", "hosts"];

test.each([
  ["records.reed", "records.read"],
  ["pathz", "paths"],
  ["path", "paths"],
  ["host", "hosts"],
  ["net.gte", "net.get"],
  ["totally.unrelated", null],
  ["", null],
  ["x", null],
  ["net.get", "net.get"],
])("%j is nearest to %j", (text, name) => {
  expect(nearestName(text, NAMES)).toBe(name);
});

test("similarity is plain Jaro: a common prefix gives no bonus", () => {
  // MARTHA/MARHTA is 0.944, DIXON/DICKSONX is 0.767 (Winkler would make it 0.813).
  expect(nearestName("MARHTA", ["MARTHA"])).toBe("MARTHA");
  expect(nearestName("DIXON", ["DICKSONX"])).toBeNull();
});

test.each([
  ["wbe", "web"],
  ["crm", "crm"],
  ["cmr", "crm"],
  ["bew", null],
  ["wb", null],
])("two swapped neighbours of a short name: %j is nearest to %j", (text, name) => {
  expect(nearestName(text, ["web", "crm"])).toBe(name);
});

test("huge text has no nearest name, at once", () => {
  expect(nearestName("records.read".repeat(1_000_000), NAMES)).toBeNull();
  expect(nearestName("a".repeat(10_000), ["a".repeat(10_000)])).toBeNull();
});
