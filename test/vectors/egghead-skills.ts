// The tools a skill names, as the requirement an agent must meet; and which names a skill may have.

import { isSkillName, readSkill } from "../../src/agents/skills/skill.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import type { Json } from "../../src/core/base/json.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import { needGrant, readAllowedTools } from "../../src/core/notation/tools/allowed-tools.ts";
import { treeOf } from "./json-tree.ts";
import { grantTexts, isWithin, READING, rootOf, sameAuthority, WORK } from "./machine.ts";
import { type Compared, type Family, yesOrNo } from "./outcome.ts";
import { BadRow, flagAt, has, numberAt, type Row, textAt, textsAt, textsOr } from "./row.ts";
import { readWritten } from "./written.ts";

export const skills: Family = {
  answers: ["requests", "unknown", "valid", "tokens"],
  run: (row) => {
    if (has(row, "name")) return yesOrNo("valid", flagAt(row, "valid"), isSkillName(textAt(row, "name")));
    if (LENGTHS.some((key) => has(row, `${key}_len`))) return yesOrNo("valid", flagAt(row, "valid"), isWhole(row));
    return has(row, "tokens") ? tokens(row) : requirement(row);
  },
};

const LENGTHS = ["name", "description", "compatibility"] as const;

/** A whole skill by the real reader, with texts of these lengths. */
function isWhole(row: Row): boolean {
  const written = LENGTHS.flatMap((key): readonly (readonly [string, string])[] => {
    if (has(row, `${key}_len`)) return [[key, "a".repeat(numberAt(row, `${key}_len`))]];
    return key === "compatibility" ? [] : [[key, "a"]];
  });
  const found = { origin: "user", file: "SKILL.md", folder: "a" } as const;
  return readSkill(found, treeOf(Object.fromEntries(written)), "Do it.", READING).skill !== null;
}

/** The list as it is read: every tool once, known or not, in order. */
function tokens(row: Row): Compared {
  const { tools, unknown, unreadable } = readAllowedTools(
    treeOf(row["allowed_tools"] ?? null),
    READING,
    new Diagnostics(),
  );
  const got = [...tools.map(({ token }) => token), ...unknown, ...unreadable].sort();
  return {
    kind: "compared",
    expected: { tokens: [...textsAt(row, "tokens")].sort() },
    got: { tokens: got },
    wider: false,
  };
}

/**
 * Both sides are parsed for an agent that works in /w, so that a folder has a meaning. The verbs are compared as well: a bare
 * `net.get` is no authority at all, and would equal a bare `fs.delete`.
 */
function requirement(row: Row): Compared {
  const root = rootOf(WORK);
  const diagnostics = new Diagnostics();
  const { tools, unknown, unreadable } = readAllowedTools(treeOf(row["allowed_tools"] ?? null), READING, diagnostics);
  const needs = tools.flatMap((tool) => tool.needs);
  const got = needs.flatMap((need): readonly Grant[] => {
    const grant = needGrant(need, root, READING);
    return grant === null ? [] : [grant];
  });
  const expected = textsAt(row, "requests").flatMap((spec) => {
    const { grants, diagnostics: faults } = readWritten([spec], /\bin=/.test(spec) ? null : root);
    const fault = faults.find(({ severity }) => severity === "error");
    // What the row asks for is compared whole, or the row is wrong: a spec that does not read would compare as nothing.
    if (fault !== undefined || grants.length === 0) throw new BadRow(`${spec} does not read: ${fault?.message ?? ""}`);
    return grants;
  });
  const isSame = sameAuthority(expected, got);
  const told = diagnostics.list.length > 0;
  const unknowns: readonly Json[] = [...unknown, ...unreadable];
  const asked = textsOr(row, "unknown", []);
  return {
    kind: "compared",
    expected: { requests: grantTexts(expected), verbs: verbsOf(expected), unknown: asked, told: asked.length > 0 },
    got: { requests: isSame ? grantTexts(expected) : grantTexts(got), verbs: verbsOf(got), unknown: unknowns, told },
    // Needing more hides a skill from an agent; needing less would be wider.
    wider: !isWithin(expected, got),
  };
}

function verbsOf(grants: readonly Grant[]): readonly string[] {
  return [...new Set(grants.map(({ verb }) => verb.verb))].sort();
}
