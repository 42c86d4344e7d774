import { expect, test } from "vitest";
import { parseArgv } from "../../authority/axes/argv.ts";
import { parsePath } from "../../authority/axes/path.ts";
import { grantMatches } from "../../authority/compiled.ts";
import type { Grant } from "../../authority/grant.ts";
import type { Result } from "../../base/result.ts";
import { readCompact } from "../compact/compact.ts";
import { Diagnostics } from "../diagnostic.ts";
import { diagnosticLines, READING, spanOf } from "../testing/notation.ts";
import { newestPreset, PRESETS } from "./presets.ts";

function grantsOf(preset: string): readonly Grant[] {
  const diagnostics = new Diagnostics();
  const specs = PRESETS.get(preset) ?? [];
  const grants = specs.map((text) =>
    readCompact(text, { reading: READING, diagnostics, span: spanOf("preset"), root: ["p"] }),
  );
  expect(diagnosticLines(diagnostics)).toEqual([]);
  return grants as readonly Grant[];
}

function good<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

/** 0 runs at once, 1 needs approval, null is denied. */
function level(preset: string, command: string, mode = "rw"): number | null {
  const values = [good(parsePath("/p", READING.pathSettings)), good(parseArgv(command.split(" "))), mode];
  const levels = grantsOf(preset)
    .filter((grant) => grant.verb.verb === "proc.exec" && grantMatches(grant, values))
    .map((grant) => grant.conditions.ask);
  return levels.length === 0 ? null : Math.min(...levels);
}

test.each([...PRESETS.keys()])("%s parses without diagnostics", (name) => {
  expect(grantsOf(name)).not.toContain(null);
  expect(name).toMatch(/^ambit:[a-z-]+@[1-9]\d*$/);
});

test.each([
  "npm test",
  "npm test -- --run",
  "git status",
  "git diff HEAD~1",
  "git log -3 --oneline",
  "git show HEAD",
  "git add .",
  "rg todo src",
  "grep -rn todo src",
  "ls -la",
  "cat a b",
])("a coder runs `%s` without approval", (command) => {
  expect(level("ambit:coder@1", command)).toBe(0);
});

test.each([
  "npm install left-pad",
  "npm run deploy",
  "npm publish",
  "npm test --script-shell=/tmp/x",
  "git push",
  "git push --force",
  "git reset --hard",
  "git clean -fdx",
  "git checkout .",
  "git commit -m x",
  "git -c core.pager=x log",
  "git diff --output=x",
  "git diff --ext-diff",
  "git log --output x",
  "rg --pre sh x",
  "rm -rf .",
  "curl x.com",
  "sh -c ls",
  "node x.js",
  "find . -delete",
  "/tmp/git status",
  "./git status",
  "gitt status",
])("a coder needs approval for `%s`", (command) => {
  expect(level("ambit:coder@1", command)).toBe(1);
});

test.each([
  ["git add -u", 0],
  ["git add src", 0],
  ["git status -uno", 0],
  ["git log -Sclone -p", 0],
  ["git log -c", 1],
  ["git add -e", 1],
  ["git add -vp", 1],
  ["npm test", 1],
  ["npm test -- --run", 1],
  ["npm run test", 1],
  ["git push", 1],
])("the second coder and `%s`: %s", (command, expected) => {
  expect(level("ambit:coder@2", command)).toBe(expected);
});

test("the newest version of a preset is found by its name", () => {
  expect(newestPreset("coder")).toBe("ambit:coder@2");
  expect(newestPreset("reader")).toBe("ambit:reader@1");
  expect(newestPreset("code")).toBeNull();
});

test.each([
  ["sed -n 1,5p f", "sed -n +eid f"],
  ["sed -n /[^/]/p f", "sed -n /[^/]/eid f"],
  ["sed s/[/]/x/ f", "sed s/[/]/x/e f"],
  ["git log -u", "git log -Oorder"],
])("read-only commands, second list: `%s`, and not `%s`", (looks, acts) => {
  expect(level("ambit:read-only-commands@2", looks, "ro")).toBe(0);
  expect(level("ambit:read-only-commands@2", acts, "ro")).toBe(null);
});

test.each([
  ["git diff", "ro", 0],
  ["git diff", "rw", null],
  ["git push", "ro", null],
  ["git stash", "ro", null],
  ["npm test", "ro", null],
  ["cat x", "ro", null],
])("a reviewer and `%s` in a root that is %s: %s", (command, mode, expected) => {
  expect(level("ambit:reviewer@1", command, mode)).toBe(expected);
});

test("presets that only read or research never delete, write files or run programs", () => {
  const verbs = (name: string): string[] => grantsOf(name).map((grant) => grant.verb.verb);
  expect(verbs("ambit:reader@1")).toEqual(["records.read", "fs.read", "tool.invoke"]);
  expect(verbs("ambit:researcher@1")).toEqual(["records.read", "records.create", "records.update", "net.get"]);
});

test.each([
  ["ls -la src", "rm -la src"],
  ["find . -name a", "find . -delete"],
  ["find . -type f", "find . -exec rm {} ;"],
  ["sort a b", "sort a -o b"],
  ["git log -3", "git log --output=x"],
  ["git blame a", "git branch a"],
  ["git show HEAD", "git show --ext-diff"],
  ["rg todo", "rg --pre=sh todo"],
  ["date +%s", "date --set=now"],
  ["file a", "file -C"],
  ["jq .a b", "jq -f prog b"],
  ["echo hello", "env echo"],
  ["cut -d, -f1 a", "uniq a b"],
])("read-only commands: `%s`, and not `%s`", (looks, acts) => {
  expect(level("ambit:read-only-commands@1", looks, "ro")).toBe(0);
  expect(level("ambit:read-only-commands@1", looks, "rw")).toBe(null);
  expect(level("ambit:read-only-commands@1", acts, "ro")).toBe(null);
});
