import { expect, test } from "vitest";
import { parseArgv } from "../axes/argv.ts";

function guardedWords(...argv: string[]): readonly string[] {
  const parsed = parseArgv(argv);
  if (!parsed.ok) throw new Error(parsed.message);
  const { segments, guarded } = parsed.value;
  return segments.filter((_, at) => guarded?.[at] === true);
}

test.each([
  ["sed", "1,5p"],
  ["sed", "$p"],
  ["sed", "p;d"],
  ["sed", "s/a/w/g"],
  ["sed", "s#x#y;w#"],
  ["sed", "/a/d"],
  ["sed", "/a/s/b/c/"],
  ["sed", "+2p"],
  ["sed", "0~3p"],
  ["sed", "1,+2p"],
  ["sed", "/a/,/b/p"],
  ["sed", "/[^/]/p"],
  ["sed", "s/[/]/x/g"],
  ["sed", "y/ab/cd/"],
  ["sed", "5q"],
  ["sed", "/work/src/index.ts"],
  ["sed", "tests/e2e/w.ts"],
  ["sed", "p".repeat(1_024)],
  ["sed", "README.md"],
  ["sed", "src/main.ts"],
  ["sed", "/home/user/a"],
  ["awk", "{ print $1 }"],
  ["git", "--format=%H"],
])("%s takes %j under a star", (program, word) => {
  expect(guardedWords(program, "-n", word)).toEqual([]);
});

test.each([
  ["sed", "wout"],
  ["sed", "1wout"],
  ["sed", "w out"],
  ["sed", "1,5p;wout"],
  ["sed", ";wout"],
  ["sed", "1!wout"],
  ["sed", "etouch"],
  ["sed", "s/a/b/e"],
  ["sed", "s/a/b/wout"],
  ["sed", "s,a,b,gwout"],
  ["sed", "srarbre"],
  ["sed", "s/a/b/;wout"],
  ["sed", "/a/wout"],
  ["sed", "/a/Iwout"],
  ["sed", "/a/,/b/wout"],
  ["sed", "/a/s/b/c/e"],
  ["sed", "\\,a,wout"],
  ["sed", "1{wout"],
  ["sed", "+eid"],
  ["sed", "~eid"],
  ["sed", "+1eid"],
  ["sed", "1,+2eid"],
  ["sed", "1,~eid"],
  ["sed", "$!eid"],
  ["sed", "/[^/]/eid"],
  ["sed", "/[/]/wout"],
  ["sed", "/[]/]/,/b/eid"],
  ["sed", "/a/,/[/]/eid"],
  ["sed", "s/[/]/x/e"],
  ["sed", "s/[/]/x/gwout"],
  ["sed", "y/a/b/;eid"],
  ["sed", "ba;eid"],
  ["sed", ":a;eid"],
  ["sed", "v4;wout"],
  ["sed", "5q;eid"],
  ["sed", "p".repeat(1_025)],
  ["git", "--format=%(signature)"],
  ["awk", '{ print > "out" }'],
  ["awk", '{ system("a") }'],
  ["awk", '{ f = "sys" "tem"; @f("a") }'],
  ["awk", '{ "a" | getline }'],
  ["/usr/bin/awk", "BEGIN { print ENVIRON[1] }"],
  ["git", "--format=%G?"],
])("%s does not take %j under a star", (program, word) => {
  expect(guardedWords(program, "-n", word)).toEqual([word]);
});

test("after `--` nothing is an option, for the programs that follow that rule", () => {
  expect(guardedWords("git", "log", "--", "--output=a")).toEqual([]);
  expect(guardedWords("git", "log", "--output=a", "--")).toEqual(["--output=a"]);
  // There `--` is the value of `-k`.
  expect(guardedWords("sort", "-k", "--", "-oa")).toEqual(["-oa"]);
  expect(guardedWords("sort", "--", "-oa")).toEqual([]);
  expect(guardedWords("find", ".", "--", "-delete")).toEqual(["-delete"]);
});
