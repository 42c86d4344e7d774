import { describe, expect, test } from "vitest";
import type { Decision } from "../../../core/authority/decision.ts";
import type { Change, Stamp } from "./change.ts";
import { decideLanding, type LandingRules, type NameClass } from "./landing.ts";

const STAMP: Stamp = {
  kind: "file",
  device: 1n,
  inode: 2n,
  bytes: 3n,
  modifiedNanoseconds: 4n,
  changedNanoseconds: 5n,
  mode: 0o644,
  links: 1n,
};
const file = (path: string): Change => ({
  kind: "file",
  path: path.split("/"),
  bytes: 1,
  isExecutable: false,
  base: null,
});
const folder = (path: string): Change => ({ kind: "folder", path: path.split("/"), base: null });
const gone = (path: string): Change => ({ kind: "delete", path: path.split("/"), base: STAMP });

const ALLOW: Decision = { outcome: "allow", by: { chain: 0, grants: [] } };
const ASK: Decision = { outcome: "ask", level: 1, by: { chain: 0, grants: [] } };
const DENY: Decision = { outcome: "deny", code: "scope_violation", at: null };

function classify({ path }: Change): NameClass {
  if (path.includes(".git")) return { class: "git", repository: path.slice(0, path.indexOf(".git") + 1) };
  if (path.includes(".vscode")) return { class: "never", why: "editors run it" };
  if (path.includes(".envrc")) return { class: "ask", why: "direnv runs it" };
  return { class: "free" };
}

/** Names with `denied` in them are not covered, names with `asked` need approval, and deleting needs `gone` in the name. */
function judge(verb: "fs.write" | "fs.delete", path: readonly string[]): Decision {
  const text = path.join("/");
  if (text.includes("denied") || (verb === "fs.delete" && !text.includes("gone"))) return DENY;
  return text.includes("asked") ? ASK : ALLOW;
}

function decide(changes: readonly Change[], more: Partial<LandingRules> = {}): { land: string[]; kept: string[] } {
  const { land, kept } = decideLanding(changes, { judge, classify, agreed: 0, needsReview: false, ...more });
  return {
    land: land.map(({ path }) => path.join("/")),
    kept: kept.map(({ change, code }) => `${change.path.join("/")} ${code}`),
  };
}

describe("a change lands", () => {
  const rows: readonly [title: string, changes: readonly Change[], land: readonly string[], kept: readonly string[]][] =
    [
      ["if it is granted and means nothing to tools", [file("a")], ["a"], []],
      ["not if no grant covers it", [file("denied")], [], ["denied scope_violation"]],
      ["not at a name that tools run", [file(".vscode/tasks.json")], [], [".vscode/tasks.json self_modification"]],
      ["one character beside such a name", [file(".vscodes/tasks.json")], [".vscodes/tasks.json"], []],
      ["not without approval if the name needs one", [file(".envrc")], [], [".envrc approval_required"]],
      ["not without approval if the grant needs one", [file("asked")], [], ["asked approval_required"]],
      ["not as a deletion by a grant to write", [gone("b")], [], ["b scope_violation"]],
      ["as a deletion by a grant to delete", [gone("gone")], ["gone"], []],
      ["with its new folder", [folder("d"), file("d/a")], ["d", "d/a"], []],
      [
        "with a new folder that no grant names",
        [folder("denied"), file("denied/x")],
        [],
        ["denied scope_violation", "denied/x scope_violation"],
      ],
      ["and so does an empty new folder", [folder("d")], ["d"], []],
      [
        "but not a folder whose contents are all kept",
        [folder("d"), file("d/denied")],
        [],
        ["d scope_violation", "d/denied scope_violation"],
      ],
      [
        "and no folder that tools run",
        [folder(".vscode"), file(".vscode/x")],
        [],
        [".vscode self_modification", ".vscode/x self_modification"],
      ],
      [
        "but no deletion of a folder in which something stays",
        [gone("gone/denied"), gone("gone/a"), gone("gone")],
        ["gone/a"],
        ["gone/denied scope_violation", "gone scope_violation"],
      ],
      [
        "but nothing in place of a name that stays",
        [gone("b"), file("b")],
        [],
        ["b scope_violation", "b scope_violation"],
      ],
      [
        "but nothing below a name that stays",
        [gone("b"), folder("b"), file("b/c")],
        [],
        ["b scope_violation", "b scope_violation", "b/c scope_violation"],
      ],
    ];
  for (const [title, changes, land, kept] of rows)
    test(title, () => {
      expect(decide(changes)).toEqual({ land, kept });
    });
});

test("files of a repository are grouped for the importer, and land in no other way", () => {
  const { land, git, kept } = decideLanding([file("a"), file(".git/HEAD"), file("sub/.git/config")], {
    ...{ judge, classify, agreed: 1, needsReview: false },
  });
  expect([land.length, kept.length]).toEqual([1, 0]);
  expect(git.map(({ repository, changes }) => [repository.join("/"), changes.length])).toEqual([
    [".git", 1],
    ["sub/.git", 1],
  ]);
});

test("an approval covers what needs approval, never what no grant covers or what tools run", () => {
  const changes = [file(".envrc"), file("asked"), file("denied"), file(".vscode/x")];
  expect(decide(changes, { agreed: 1 })).toEqual({
    land: [".envrc", "asked"],
    kept: ["denied scope_violation", ".vscode/x self_modification"],
  });
});

test("under review everything waits", () => {
  expect(decide([file("a"), gone("gone")], { needsReview: true })).toEqual({
    land: [],
    kept: ["a approval_required", "gone approval_required"],
  });
});

test("a grant that requires presence is not covered by a plain approval", () => {
  const twice: Decision = { outcome: "ask", level: 2, by: { chain: 0, grants: [] } };
  const rules = { judge: () => twice };
  expect(decide([file("a")], { ...rules, agreed: 1 }).kept).toEqual(["a approval_required"]);
  expect(decide([file("a")], { ...rules, agreed: 2 })).toEqual({ land: ["a"], kept: [] });
});

test("the files of a git change wait with it, and so does their folder", () => {
  const holds = ({ path }: Change): boolean => path.includes("tracked");
  expect(decide([folder("d"), file("d/tracked"), gone("gone/tracked"), gone("gone")], { holds })).toEqual({
    land: [],
    kept: ["d not_landed", "d/tracked not_landed", "gone/tracked not_landed", "gone not_landed"],
  });
});

test("nothing lands in a new folder that does not", () => {
  const asks = ({ path }: Change): NameClass =>
    path.join("/") === "d" ? { class: "ask", why: "a tool reads it" } : { class: "free" };
  expect(decide([folder("d"), file("d/a")], { classify: asks })).toEqual({
    land: [],
    kept: ["d approval_required", "d/a approval_required"],
  });
});
