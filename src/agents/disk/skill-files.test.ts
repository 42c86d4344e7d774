import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listOwnSkills, listProjectSkills, SKILLS } from "./skill-files.ts";

let base = "";
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "ambit-skills-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(path: string): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), "text");
}

const paths = ({ files, problems }: ReturnType<typeof listOwnSkills>): readonly (readonly string[])[] => [
  files.map(({ path }) => path),
  problems.map(({ path, code }) => `${path} ${code}`),
];

test("a project's skills are folders with a SKILL.md, and links are not followed", () => {
  put("w/.ambit/skills/a/SKILL.md");
  put("w/.ambit/skills/a/deep/SKILL.md");
  put("w/.ambit/skills/a/deep/er/x.txt");
  put("w/.ambit/skills/none/README.md");
  put("w/.ambit/skills/SKILL.md");
  put("other/SKILL.md");
  put("other.md");
  symlinkSync(join(base, "other"), join(base, "w", SKILLS, "linked"));
  mkdirSync(join(base, "w", SKILLS, "b"));
  symlinkSync(join(base, "other.md"), join(base, "w", SKILLS, "b", "SKILL.md"));
  symlinkSync("/etc", join(base, "w", SKILLS, "a", "data"));
  expect(paths(listProjectSkills(join(base, "w"), 0))).toEqual([
    ["a/SKILL.md"],
    ["b/SKILL.md escapes_root", "linked escapes_root"],
  ]);
});

test("a person's own skills may be linked from elsewhere", () => {
  put("mine/a/SKILL.md");
  put("mine/file.md");
  put("mine/.hidden/SKILL.md");
  put("other/SKILL.md");
  symlinkSync(join(base, "other"), join(base, "mine", "linked"));
  symlinkSync("nowhere", join(base, "mine", "dangling"));
  symlinkSync("ring", join(base, "mine", "ring"));
  expect(paths(listOwnSkills(join(base, "mine")))).toEqual([
    ["a/SKILL.md", "linked/SKILL.md"],
    ["ring/SKILL.md not_understood"],
  ]);
});

test("no folder, no skills", () => {
  expect(paths(listOwnSkills(join(base, "none")))).toEqual([[], []]);
  expect(paths(listProjectSkills(base, 0))).toEqual([[], []]);
});
