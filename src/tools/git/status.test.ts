// Parses git's output about a repository: names are taken literally, and a truncated entry is dropped.
import { describe, expect, test } from "vitest";
import { branchesAnswer, commitAndRest, commitsAnswer, sentAnswer } from "./history.ts";
import { statusAnswer } from "./status.ts";

const HASH = "d00491fd7e5bb6fa28c517a0bb32b8b506539d4d";

describe("status", () => {
  test("parses changes, renames, conflicts and names with any characters", () => {
    const text = [
      `# branch.oid ${HASH}`,
      "# branch.head a branch",
      "# branch.upstream origin/main",
      "# branch.ab +2 -1",
      `1 .M N... 100644 100644 100644 ${HASH} ${HASH} a  b\nc`,
      `2 R. N... 100644 100644 100644 ${HASH} ${HASH} R100 new name`,
      "? old",
      `u UU N... 100644 100644 100644 100644 ${HASH} ${HASH} ${HASH} both`,
      "? 1 .M N... x",
      "",
    ].join("\0");
    expect(statusAnswer(text, false)).toEqual({
      branch: "a branch",
      commit: HASH,
      upstream: "origin/main",
      ahead: 2,
      behind: 1,
      isClean: false,
      more: false,
      entries: [
        { path: "a  b\nc", staged: null, unstaged: "modified", from: null },
        { path: "new name", staged: "renamed", unstaged: null, from: "? old" },
        { path: "both", staged: "conflict", unstaged: "conflict", from: null },
        { path: "1 .M N... x", staged: null, unstaged: "untracked", from: null },
      ],
    });
  });

  test("of nothing is clean only if nothing was truncated", () => {
    expect(statusAnswer("", false)).toMatchObject({ isClean: true, branch: null, entries: [] });
    expect(statusAnswer("? hal", true)).toMatchObject({ isClean: false, more: true, entries: [] });
    expect(statusAnswer("# branch.oid (initial)\0# branch.head (detached)\0", false)).toMatchObject({
      branch: null,
      commit: null,
    });
  });
});

describe("commits", () => {
  const one = [HASH, "p q", "An Author", "a@b", "2026-01-01T00:00:00Z", "subject", "body\n"].join("\0");

  test("are groups of seven fields; half a group is dropped", () => {
    const whole = commitsAnswer(`${one}\0${one}\0`, 50, false);
    expect(whole).toMatchObject({ more: false, commits: [{ parents: ["p", "q"], body: "body" }, {}] });
    expect(commitsAnswer(`${one}\0${HASH}\0p`, 50, true)).toMatchObject({ more: true, commits: [{ commit: HASH }] });
    expect(commitsAnswer("", 50, false)).toEqual({ commits: [], more: false });
  });

  test("one is separated from the changes after it, NUL bytes included", () => {
    expect(commitAndRest(`${one}\0\n\ndiff a\0b\n`)).toMatchObject({ commit: { commit: HASH }, rest: "diff a\0b\n" });
    expect(commitAndRest("no commit")).toBeNull();
  });
});

test("remote branches are listed once, by their own name", () => {
  const line = (...fields: readonly string[]): string => `${fields.join("\0")}\n`;
  const text =
    line("*", "refs/heads/main", HASH, "refs/remotes/origin/main", "") +
    line(" ", "refs/remotes/origin/HEAD", HASH, "", "refs/remotes/origin/main") +
    line(" ", "refs/remotes/origin/main", HASH, "", "");
  expect(branchesAnswer(text, false)).toEqual({
    more: false,
    branches: [
      { name: "main", commit: HASH, isCurrent: true, isRemote: false, upstream: "origin/main" },
      { name: "origin/main", commit: HASH, isCurrent: false, isRemote: true, upstream: null },
    ],
  });
});

test("the result of a push is parsed branch by branch", () => {
  const text =
    "To https://x.example/y\n!\trefs/heads/a:refs/heads/a\t[rejected] (fetch first)\n*\tHEAD:refs/heads/b\t[new branch]\nDone\n";
  expect(sentAnswer(text)).toEqual({
    refs: [
      { from: "a", to: "a", outcome: "rejected", summary: "[rejected] (fetch first)" },
      { from: "HEAD", to: "b", outcome: "new", summary: "[new branch]" },
    ],
  });
});
