import { describe, expect, it, test } from "vitest";
import { READING } from "../../core/notation/testing/notation.ts";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { readSkill, type SkillOrigin, type SkillReading } from "./skill.ts";

function skillOf(text: string, folder = "notes", origin: SkillOrigin = "project"): SkillReading {
  const { read, body } = readFrontmatter({ name: "SKILL.md", text });
  if (read.tree === null) return { skill: null, diagnostics: read.diagnostics };
  return readSkill({ origin, file: "SKILL.md", folder }, read.tree, text.slice(body.start), READING);
}

const whole = "name: notes\ndescription: Takes notes.\n";

describe("a skill is valid or none", () => {
  it.each<readonly [string, string, readonly string[], boolean]>([
    ["all there", `---\n${whole}---\nDo it.\n`, [], true],
    ["unknown keys are its own", `---\n${whole}license: MIT\nmetadata: { a: 1 }\n---\nDo it.\n`, [], true],
    ["no name", "---\ndescription: d\n---\nx\n", ["error missing_field"], false],
    ["a bad name", "---\nname: No Tes\ndescription: d\n---\nx\n", ["error bad_value"], false],
    ["a name unlike its folder", "---\nname: note\ndescription: d\n---\nx\n", ["warning bad_value"], true],
    ["a name that is a number", "---\nname: 7\ndescription: d\n---\nx\n", ["error wrong_type"], false],
    ["no description", "---\nname: notes\n---\nx\n", ["error missing_field"], false],
    ["an empty description", "---\nname: notes\ndescription: ' '\n---\nx\n", ["error bad_value"], false],
    ["the longest description", `---\nname: notes\ndescription: ${"d".repeat(1024)}\n---\nx\n`, [], true],
    ["one longer", `---\nname: notes\ndescription: ${"d".repeat(1025)}\n---\nx\n`, ["error bad_value"], false],
    ["the longest compatibility", `---\n${whole}compatibility: ${"d".repeat(500)}\n---\nx\n`, [], true],
    ["one longer", `---\n${whole}compatibility: ${"d".repeat(501)}\n---\nx\n`, ["error bad_value"], false],
    ["no instructions", `---\n${whole}---\n \n\n`, ["error missing_field"], false],
    ["a list", "---\n- a\n---\nx\n", ["error wrong_type"], false],
    ["half a file", `---\n${whole}`, ["error syntax"], false],
    ["an unknown tool", `---\n${whole}allowed-tools: Raed\n---\nx\n`, ["warning not_understood"], true],
    ["a tool that cannot be read", `---\n${whole}allowed-tools: Bash()\n---\nx\n`, ["error bad_value"], true],
    ["tools that are not text", `---\n${whole}allowed-tools: [1]\n---\nx\n`, ["error wrong_type"], true],
  ])("%s", (_what, text, codes, isSkill) => {
    const { skill, diagnostics } = skillOf(text);
    expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(codes);
    expect(skill !== null).toBe(isSkill);
  });

  test("a record needs no name of its own", () => {
    expect(skillOf("---\nclass: skill\ndescription: d\n---\nx\n", "notes", "record").skill).toMatchObject({
      name: "notes",
    });
    expect(skillOf("---\nclass: skill\ndescription: d\n---\nx\n", "No", "record").skill).toBeNull();
  });

  it.each([
    ["No Tes!", "name: no-tes"],
    ["--", "name: my-skill"],
  ])("%s gets a suggested name", (name, fix) => {
    const text = `---\nname: "${name}"\ndescription: d\n---\nx\n`;
    expect(skillOf(text, "No Folder").diagnostics[0]?.fix).toBe(fix);
    expect(skillOf(text, "notes").diagnostics[0]?.fix).toBe("name: notes");
  });

  test("tools that are not text never count as none", () => {
    expect(skillOf(`---\n${whole}allowed-tools: [1]\n---\nx\n`).skill?.tools.unreadable).toEqual(["allowed-tools"]);
  });
});
