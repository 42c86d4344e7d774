// Protected names as `can` tells them: below the outermost root that may be written, and some at any depth.
import { expect, test } from "vitest";
import { grant, verb } from "../../test/forge/authority.ts";
import { parsePathPatterns } from "../authority/path.ts";
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
  "/w/sub/.vscode/a",
  "/w/.VSCode/a",
])("%s is held, whoever writes or deletes it", (path) => {
  expect([isHeld(path), isHeld(path, undefined, "fs.delete"), isHeld(path, undefined, "fs.read")]).toEqual([
    ...[true, true, false],
  ]);
});

test.each(["/w/a", "/w/.gitignore", "/w/sub/.bashrc", "/w/.vscodes", "/w/sub/AGENTS.md", "/w"])("%s is not", (path) => {
  expect(isHeld(path)).toBe(false);
});

test("the folder a grant was written for is its root, however narrow its patterns are", () => {
  const narrow = { ...below("/w/pkg"), root: ["w"] };
  expect(isHeld("/w/pkg/.bashrc", [below("/w/pkg")])).toBe(true);
  expect(isHeld("/w/pkg/.bashrc", [narrow])).toBe(false);
  expect(isHeld("/w/pkg/.git/hooks/x", [narrow])).toBe(true);
});

test("a root in a root protects nothing more, and a home folder its own names", () => {
  expect(isHeld("/w/sub/.bashrc", [below("/w/sub")])).toBe(true);
  expect(isHeld("/w/sub/.bashrc", [below("/w/sub"), below("/w")])).toBe(false);
  expect(isHeld("/home/ann/.gitconfig", [below("/home")])).toBe(true);
  expect(isHeld("/home/ann/.gitconfig", [below("/home", "fs.read")])).toBe(false);
});
