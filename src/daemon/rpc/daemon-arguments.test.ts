import { expect, test } from "vitest";
import { readDaemonArguments } from "./daemon-arguments.ts";

test.each<readonly [readonly string[], ReturnType<typeof readDaemonArguments>]>([
  [["--state", "/s"], { state: "/s", idleSeconds: 600 }],
  [["--state", "/s", "--idle", "5"], { state: "/s", idleSeconds: 5 }],
  [["--state", "/s", "--idle", "5", "--announce"], { state: "/s", idleSeconds: 5 }],
  [["--state", "/s", "--announce"], { state: "/s", idleSeconds: 600 }],
  [["--state", "/s", "--idle", "999999"], { state: "/s", idleSeconds: 604_800 }],
  [["--state", "s"], null],
  [["--state"], null],
  [["--idle", "5"], null],
  [["--state", "/s", "--idle"], null],
  [["--state", "/s", "--idle", "-1"], null],
  [["--state", "/s", "--idle", "1e3"], null],
  [["--state", "/s", "--idle", "5", "more"], null],
  [[], null],
])("%j", (words, read) => {
  expect(readDaemonArguments(words)).toEqual(read);
});
