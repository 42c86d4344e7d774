import { describe, expect, test } from "vitest";
import { READING } from "../../core/notation/testing/notation.ts";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { type CollectionMachine, openCollection } from "../records/record-collection.ts";
import { openSkills, recordSkills, type SkillShelf, type SkillSource } from "./record-skills.ts";
import type { SkillOrigin } from "./skill.ts";

function source(origin: SkillOrigin, files: Readonly<Record<string, string | null>>): SkillSource {
  return {
    origin,
    files: Object.keys(files).map((path) => ({ path, stamp: "", settled: true })),
    problems: [],
    read: ({ path }) => {
      const text = files[path] ?? null;
      return text === null ? { ok: false, code: "too_large", message: "this file is long" } : { ok: true, text };
    },
    nameOf: (path) => `${origin}/${path}`,
  };
}

const open = (...sources: readonly SkillSource[]): SkillShelf =>
  openSkills({ sources: () => sources, frontmatter: readFrontmatter }, READING);
const text = (name: string): string => `---\nname: ${name}\ndescription: d\n---\nx\n`;
const told = ({ problems }: SkillShelf): readonly string[] =>
  problems.map(({ diagnostic, source: { name } }) => `${name} ${diagnostic.severity} ${diagnostic.code}`);

describe("a name belongs to one skill", () => {
  test("the user's own before a shared one before the project's, in any order", () => {
    const collection = open(
      source("record", { "b.md": text("b") }),
      source("project", { "a/SKILL.md": text("a"), "b/SKILL.md": text("b"), "c/SKILL.md": text("c") }),
      source("shared", { "a/SKILL.md": text("a") }),
      source("user", { "a/SKILL.md": text("a") }),
    );
    expect(collection.skills.map(({ name, origin }) => `${name} ${origin}`)).toEqual([
      "a user",
      "b project",
      "c project",
    ]);
    expect(told(collection)).toEqual([
      "shared/a/SKILL.md warning bad_value",
      "project/a/SKILL.md warning bad_value",
      "record/b.md warning bad_value",
    ]);
  });
});

test("a text that is not a skill is one diagnostic, and the others are listed", () => {
  const collection = open(
    source("project", {
      "a/SKILL.md": null,
      "b/SKILL.md": "no frontmatter",
      "c/SKILL.md": "---\nname: c\n",
      "d/SKILL.md": text("d"),
    }),
  );
  expect(collection.skills.map(({ name }) => name)).toEqual(["d"]);
  expect(told(collection)).toEqual([
    "project/a/SKILL.md error too_large",
    "project/b/SKILL.md error syntax",
    "project/c/SKILL.md error syntax",
  ]);
});

test("records of class skill are skills, and no others", () => {
  const files: Readonly<Record<string, string>> = {
    "how/release.md": "---\nclass: skill\ndescription: d\nallowed-tools: Read\n---\nx\n",
    "note.md": "---\nclass: note\ndescription: d\n---\nx\n",
  };
  const machine: CollectionMachine = {
    list: () => ({ files: Object.keys(files).map((path) => ({ path, stamp: "1", settled: true })), problems: [] }),
    read: ({ path }) => ({ ok: true, text: files[path] ?? "" }),
    frontmatter: readFrontmatter,
    nameOf: (path) => path,
    loadCache: () => null,
    saveCache: () => undefined,
  };
  const collection = open(recordSkills(openCollection(machine), machine));
  expect(collection.skills.map(({ name, origin, file }) => [name, origin, file])).toEqual([
    ["release", "record", "how/release.md"],
  ]);
  expect(told(collection)).toEqual([]);
});
