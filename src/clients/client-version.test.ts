import { expect, test } from "vitest";
import { isOlder, isVersion } from "./client-version.ts";

test.each([
  ["2.0.0", "2.0.0", false],
  ["1.9.99", "2.0.0", true],
  ["2.0", "2.0.1", true],
  ["2.1", "2.0.9", false],
  ["10.0.0", "9.0.0", false],
  ["0.9.0", "0.10.0", true],
  ["v2.0.1", "2.0.0", false],
  ["2.0.0-beta.1", "2.0.0", false],
])("%s is older than %s: %s", (version, least, expected) => {
  expect(isOlder(version, least)).toBe(expected);
});

test.each([
  ["2.1.325", true],
  ["2", false],
  ["claude", false],
  ["2.1.x", false],
  ["", false],
])("%s is a version: %s", (text, expected) => {
  expect(isVersion(text)).toBe(expected);
});
