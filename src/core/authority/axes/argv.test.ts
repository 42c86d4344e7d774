// Commands are matched word by word, never as text; a star never matches an option that makes a program run another.
import { describe, expect, test } from "vitest";
import type { Result } from "../../base/result.ts";
import { type Sequence, sequenceMatches } from "../patterns/sequence.ts";
import { argvPatternText, parseArgv, parseArgvPattern, parseProgram, programOf } from "./argv.ts";

function good<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

function covers(pattern: Sequence, words: readonly string[]): boolean {
  return sequenceMatches(pattern, good(parseArgv(words)));
}

describe("a pattern covers", () => {
  test.each([
    ["a word is a whole word", "git log", ["git", "log"], ["git", "logs"]],
    ["nothing may follow a pattern without a star", "git log", ["git", "log"], ["git", "log", "x"]],
    ["two stars are any words", "git log **", ["git", "log", "-n", "5"], ["git", "lo", "-n", "5"]],
    ["two stars may be no word", "git log **", ["git", "log"], ["git"]],
    ["a last star is two stars", "git log *", ["git", "log", "a", "b"], ["git", "lo", "a", "b"]],
    ["a star in the middle is one word", "git * x", ["git", "a", "x"], ["git", "a", "b", "x"]],
    ["a star in the middle is not empty", "git * x", ["git", "a", "x"], ["git", "x"]],
    ["`git:*` is git with any words", "git:*", ["git", "log"], ["gi", "log"]],
    ["a star inside a word stays in it", "npm run test:*", ["npm", "run", "test:unit"], ["npm", "run", "test", "unit"]],
    ["one argument with a space is one word", "git log", ["git", "log"], ["git log"]],
    [
      "quotes make one word",
      'git commit -m "two words"',
      ["git", "commit", "-m", "two words"],
      ["git", "commit", "-m", "two", "words"],
    ],
    ["a quoted star is a literal star", "ls '*'", ["ls", "*"], ["ls", "a"]],
    ["an empty word is a word", 'ls ""', ["ls", ""], ["ls"]],
    ["the program is its exact name", "git **", ["git", "log"], ["./git", "log"]],
    ["a program at another path is another program", "git **", ["git"], ["/tmp/git"]],
    ["a pinned path is that path", "/usr/bin/git **", ["/usr/bin/git", "log"], ["git", "log"]],
  ])("%s", (_rule, pattern, allowed, denied) => {
    const parsed = good(parseArgvPattern(pattern));
    expect(covers(parsed, allowed)).toBe(true);
    expect(covers(parsed, denied)).toBe(false);
  });
});

describe("a star never matches an option that runs other programs or writes elsewhere", () => {
  test.each([
    ["find **", ["find", ".", "-exec", "x"], ["find", ".", "-execx", "x"]],
    ["find **", ["find", ".", "-delete"], ["find", ".", "-depth"]],
    ["/usr/bin/find **", ["/usr/bin/find", "-exec"], ["/usr/bin/find", "-name"]],
    ["* **", ["/opt/find", "-exec"], ["/opt/fine", "-exec"]],
    ["git **", ["git", "-c", "x"], ["git", "-v", "x"]],
    ["git **", ["git", "--upload-pack=x"], ["git", "--uplo-pack=x"]],
    ["git **", ["git", "--upl=x"], ["git", "--apl=x"]],
    ["git **", ["git", "grep", "-Oless"], ["git", "grep", "-oless"]],
    ["tar **", ["tar", "-xIz"], ["tar", "-xz"]],
    ["rg **", ["rg", "--pre", "x"], ["rg", "--only-matching", "x"]],
    ["rg --p*", ["rg", "--pre"], ["rg", "--passthru"]],
    ["dd **", ["dd", "of=/x"], ["dd", "if=/x"]],
    ["less **", ["less", "+!sh"], ["less", "-+!sh"]],
    ["sort *", ["sort", "-o", "x"], ["sort", "-r", "x"]],
    ["git **", ["git", "clone", "-ccore.hooksPath=x", "a"], ["git", "clone", "-qv", "a"]],
    ["git **", ["git", "clone", "-qccore.hooksPath=x", "a"], ["git", "clone", "-bcc", "a"]],
    ["git **", ["git", "clone", "-u", "x", "a"], ["git", "push", "-u", "x", "a"]],
    ["git **", ["git", "--no-pager", "clone", "-ux", "a"], ["git", "--no-pager", "add", "-u", "a"]],
    ["git **", ["git", "difftool", "-x./evil.sh"], ["git", "difftool", "-y"]],
    ["git **", ["git", "difftool", "-yx./evil.sh"], ["git", "difftool", "-Sx"]],
    ["git **", ["git", "rebase", "-ix./evil.sh"], ["git", "rebase", "-sx"]],
    ["git **", ["git", "grep", "-nO./evil.sh"], ["git", "grep", "-neO"]],
    ["node **", ["node", "--experimental_loader", "x"], ["node", "--experimental-vm-modules", "x"]],
    ["node **", ["node", "--experimental_loader=x"], ["node", "--enable_source_maps"]],
    ["tsc **", ["tsc", "--OUTDIR", "x"], ["tsc", "--noEmit"]],
    ["jest **", ["jest", "--global-setup=x"], ["jest", "--verbose"]],
    ["gcc **", ["gcc", "@words"], ["gcc", "words"]],
    ["tsc **", ["tsc", "@words"], ["tsc", "words"]],
    ["make **", ["make", "SHELL=./evil.sh"], ["make", "SHELL"]],
    ["make **", ["make", "X!=id"], ["make", "all"]],
    ["make **", ["make", "-kf", "x"], ["make", "-kj4"]],
    ["tar **", ["tar", "xIf", "./evil.sh", "a.tar"], ["tar", "xf", "I.tar"]],
    ["tar **", ["tar", "-xT", "list"], ["tar", "-xfT.tar"]],
    ["npm **", ["npm", "test", "-script-sh=x"], ["npm", "test", "-s"]],
    ["unzip **", ["unzip", "-qd", "x"], ["unzip", "-q", "d"]],
  ])("%s does not cover %j, but covers %j", (pattern, denied, allowed) => {
    const parsed = good(parseArgvPattern(pattern));
    expect(covers(parsed, denied)).toBe(false);
    expect(covers(parsed, allowed)).toBe(true);
  });

  test("only the literal word does, and only there", () => {
    const pattern = good(parseArgvPattern("find * -exec ls **"));
    expect(covers(pattern, ["find", ".", "-exec", "ls", "x"])).toBe(true);
    expect(covers(pattern, ["find", ".", "-exec", "ls", "-exec"])).toBe(false);
    expect(covers(pattern, ["find", "-exec", "-exec", "ls"])).toBe(false);
  });

  test("a program granted as a whole includes all its options", () => {
    const whole = good(parseProgram("find"));
    expect(covers(whole, ["find", ".", "-exec", "x"])).toBe(true);
    expect(covers(whole, ["fin", ".", "-exec", "x"])).toBe(false);
  });
});

describe("parsing", () => {
  test.each([
    ["git", "./git"],
    ["/usr/bin/git", "usr/bin/git"],
    ["/usr/bin/git", "/usr/../bin/git"],
    ["/usr/bin/git", "/usr/bin/git/"],
    ["git-log", "git log"],
    ["git", "git*"],
    ["g", ""],
  ])("%j is a program, %j is not", (allowed, denied) => {
    expect(parseProgram(allowed).ok).toBe(true);
    expect(parseProgram(denied).ok).toBe(false);
  });

  test.each([
    ['git -m "a b"', 'git -m="a b"'],
    ["git 'a'", "git 'a"],
    ['git "a"', 'git "a'],
    ['git "\\n"', 'git "\\x"'],
    ["a", " "],
  ])("%j is a pattern, %j is not", (allowed, denied) => {
    expect(parseArgvPattern(allowed).ok).toBe(true);
    expect(parseArgvPattern(denied).ok).toBe(false);
  });

  test.each([
    [
      ["git", "a b"],
      ["git", "a\0b"],
    ],
    [
      ["git", ""],
      ["", "git"],
    ],
    [["git"], []],
  ])("%j is a command, %j is not", (allowed, denied) => {
    expect(parseArgv(allowed).ok).toBe(true);
    expect(parseArgv(denied).ok).toBe(false);
  });

  test.each([
    ["git  log *", "git log **"],
    ["git:*", "git **"],
    ["*", "**"],
    ["git log '*' **", 'git log "*" **'],
    ["git 'log'", "git log"],
  ])("the pattern %j is printed %s", (text, expected) => {
    expect(argvPatternText(good(parseArgvPattern(text)))).toBe(expected);
  });

  test("a whole program is recognized, a pattern is not one", () => {
    expect(programOf(good(parseProgram("git")))).toBe("git");
    expect(programOf(good(parseArgvPattern("git **")))).toBeNull();
  });
});
