// A skill from its SKILL.md, or from a record of class skill: instructions with a name, and the tools they use.
import type { Span } from "../../core/authority/grant.ts";
import { type Diagnostic, Diagnostics } from "../../core/notation/diagnostic.ts";
import { quoteText } from "../../core/notation/quote-text.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { kindName, textOf } from "../../core/notation/scope/scope-values.ts";
import { type AllowedTools, NO_TOOLS, readAllowedTools } from "../../core/notation/tools/allowed-tools.ts";
import { type Entry, entryOf, type Mapping, type TreeNode } from "../../core/notation/tree.ts";

/** Where a skill was found. */
export type SkillOrigin = "user" | "shared" | "project" | "record";

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly compatibility: string | null;
  readonly origin: SkillOrigin;
  /** As shown in messages. */
  readonly file: string;
  readonly tools: AllowedTools;
  readonly body: string;
}

const nameCharactersMax = 64;
const descriptionCharactersMax = 1024;
const compatibilityCharactersMax = 500;

/** Lower-case letters, digits and single hyphens between them. */
export function isSkillName(name: string): boolean {
  return name.length <= nameCharactersMax && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}

export interface SkillLocation {
  readonly origin: SkillOrigin;
  readonly file: string;
  /** The folder it is in, or the last part of a record's id: the default name, and the expected one. */
  readonly folder: string;
}

export interface SkillReading {
  /** Null if the text is not a skill. */
  readonly skill: Skill | null;
  readonly diagnostics: readonly Diagnostic[];
}

export function readSkill(found: SkillLocation, tree: TreeNode, body: string, reading: Reading): SkillReading {
  const diagnostics = new Diagnostics();
  if (tree.kind !== "map") {
    diagnostics.error("wrong_type", tree.span, `a skill's frontmatter must be a map, not ${kindName(tree)}`, {
      fix: EXAMPLE,
    });
    return { skill: null, diagnostics: diagnostics.list };
  }
  const name = readName(found, tree, diagnostics);
  const description = bounded(tree, "description", descriptionCharactersMax, diagnostics);
  const compatibility =
    entryOf(tree, "compatibility") === null
      ? null
      : bounded(tree, "compatibility", compatibilityCharactersMax, diagnostics);
  if (/^\s*$/.test(body))
    diagnostics.error("missing_field", tree.span, "the skill has no instructions after its frontmatter");
  const isWhole = diagnostics.list.every(({ severity }) => severity !== "error");
  const written = entryOf(tree, "allowed-tools");
  const tools = written === null ? NO_TOOLS : readAllowedTools(written.value, reading, diagnostics);
  if (!isWhole || name === null || description === null) return { skill: null, diagnostics: diagnostics.list };
  const { origin, file } = found;
  return { skill: { name, description, compatibility, origin, file, tools, body }, diagnostics: diagnostics.list };
}

const EXAMPLE =
  "---\nname: release-notes\ndescription: Writes release notes from the git log.\nallowed-tools: Bash(git log:*)\n---";

function readName({ origin, folder }: SkillLocation, map: Mapping, diagnostics: Diagnostics): string | null {
  const entry = entryOf(map, "name");
  if (entry === null && origin !== "record") {
    diagnostics.error("missing_field", map.span, "a skill needs a `name`", { fix: `name: ${suggested(folder)}` });
    return null;
  }
  const name = entry === null ? folder : (textOf(entry, diagnostics)?.text ?? null);
  if (name === null) return null;
  const span: Span = entry?.value.span ?? map.span;
  if (!isSkillName(name)) {
    const message = `${quoteText(name)} is not a valid skill name: 1 to ${nameCharactersMax} lower-case letters, digits and single hyphens`;
    diagnostics.error("bad_value", span, message, { fix: `name: ${isSkillName(folder) ? folder : suggested(name)}` });
    return null;
  }
  if (origin !== "record" && name !== folder)
    diagnostics.warning("bad_value", span, `the skill is called ${name}, its folder ${quoteText(folder)}`, {
      fix: isSkillName(folder) ? `name: ${folder}` : null,
    });
  return name;
}

function suggested(name: string): string {
  const words = name
    .slice(0, nameCharactersMax)
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.filter((word) => word !== "").join("-") || "my-skill";
}

/** Text of 1 to `charactersMax` characters. */
function bounded(map: Mapping, key: string, charactersMax: number, diagnostics: Diagnostics): string | null {
  const entry: Entry | null = entryOf(map, key);
  if (entry === null) {
    diagnostics.error("missing_field", map.span, `a skill needs a \`${key}\``, { fix: `${key}: What it is for` });
    return null;
  }
  const written = textOf(entry, diagnostics);
  if (written === null) return null;
  if (written.text.trim() !== "" && written.text.length <= charactersMax) return written.text;
  diagnostics.error("bad_value", written.span, `\`${key}\` has 1 to ${charactersMax} characters`);
  return null;
}
