// Protected names as `can` tells them: below the outermost root that may be written, and some at any depth.
import { expect, test } from "vitest";
import { GROUND } from "../../test/edits/edit.ts";
import { grant, verb } from "../../test/forge/authority.ts";
import { record, scout } from "../../test/trust/project.ts";
import { parsePathPatterns } from "../authority/path.ts";
import { editRecord } from "../record/edit.ts";
import { isHeldName } from "./held-names.ts";

const ground = { home: ["home", "ann"], base: ["w"], protectedPaths: [] };

function below(folder: string, name = "fs.write"): ReturnType<typeof grant> {
  const patterns = parsePathPatterns(`${folder}/**`, [], ground);
  if (!patterns.ok) throw new Error(patterns.message);
  return grant(name, [{ kind: "sequences", of: patterns.value }]);
}

function isHeld(path: string, grants = [below("/w")], name = "fs.write"): boolean {
  const segments = path.split("/").filter((part) => part !== "");
  return isHeldName({ grants }, { verb: verb(name), values: [{ segments, guarded: null }] }, ground);
}

test.each([
  "/w/.git/hooks/x",
  "/w/a/b/.git/config",
  "/w/.ambit/agents/x.md",
  "/w/.vscode/a",
  "/w/.mcp.json",
  "/w/.bashrc",
])("%s is held, whoever writes or deletes it", (path) => {
  expect([isHeld(path), isHeld(path, undefined, "fs.delete"), isHeld(path, undefined, "fs.read")]).toEqual([
    ...[true, true, false],
  ]);
});

test.each(["/w/a", "/w/.gitignore", "/w/sub/.vscode/a", "/w/.vscodes", "/w"])("%s is not", (path) => {
  expect(isHeld(path)).toBe(false);
});

test.each([
  ["allow: fs.write .git/hooks/x", false],
  ["allow: fs.delete .vscode/tasks.json", false],
  ["deny: fs.write .git/hooks/x, code: scope_violation", false],
  ["deny: fs.write .git/hooks/x, code: self_modification", true],
  ["deny: fs.write .git/hooks/x", true],
  ["allow: fs.write git/hooks/x", true],
  ["allow: fs.read .git/hooks/x", true],
  ["deny: fs.write /etc/.git/hooks/x, code: scope_violation", true],
])("a record's test is told the same: { %s } holds: %j", (row, holds) => {
  const lines = ["sandbox: /work", "capabilities: [fs.delete]", "tests:", `  - { ${row} }`];
  const { agent } = scout({ agent: record(...lines) }, null);
  expect([agent.tests.map(({ passed }) => passed), agent.refused]).toEqual([[holds], !holds]);
  const words = agent.diagnostics.map(({ message }) => message).join();
  expect(words.includes("no tool changes a protected name")).toBe(!holds);
});

test("an edit asks the record's tests the same way", () => {
  const row = "{ deny: fs.write .git/hooks/x, code: self_modification }, { allow: records.read id=a }";
  const text = record("sandbox: /work", "capabilities: [records.read]", `tests: [${row}]`);
  const revoked = (isHeld: typeof isHeldName | undefined): string => {
    const ground = isHeld === undefined ? GROUND : { ...GROUND, isHeld };
    return editRecord({ name: "a.md", text }, { kind: "revoke", spec: "records.read" }, ground).kind;
  };
  // A test that fails already would hide the one that the edit breaks.
  expect([revoked(isHeldName), revoked(undefined)]).toEqual(["refused", "edited"]);
});

test("a root in a root protects nothing more, and a home folder its own names", () => {
  expect(isHeld("/w/sub/.vscode/a", [below("/w/sub")])).toBe(true);
  expect(isHeld("/w/sub/.vscode/a", [below("/w/sub"), below("/w")])).toBe(false);
  expect(isHeld("/home/ann/.gitconfig", [below("/home")])).toBe(true);
  expect(isHeld("/home/ann/.gitconfig", [below("/home", "fs.read")])).toBe(false);
});
