// The tools skills_list and skills_read: the skills of an agent, which are those whose tools its grants cover. Others do not
// exist for it.

import { openSkills, type SkillMachine } from "../../agents/skills/record-skills.ts";
import type { Skill } from "../../agents/skills/skill.ts";
import { checkSkill, type SkillHolder } from "../../agents/skills/skill-check.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { judge } from "../../core/authority/judge.ts";
import { textIn } from "../../core/base/fields.ts";
import { done } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { useDenial, useResult } from "../../runtime/context/use-result.ts";
import type { BuiltinTool } from "../../runtime/tool/builtin.ts";
import { objectSchema, textSchema } from "../../runtime/tool/schema-parts.ts";
import { heldGrants } from "../agents/held-grants.ts";
import { recordRequest } from "../records/requests.ts";

/** The files with skills that a session can see, and its current grants. */
export interface SkillAccess {
  /** Whether any folder of skills exists. */
  hasFolder(): boolean;
  /** Null if the session has no grants any more. */
  held(): { readonly authority: Authority; readonly reading: Reading; readonly moment: Moment } | null;
  /** `mayRead`: whether a record of class skill, by its id, may be read. */
  open(mayRead: (id: string) => boolean): Promise<SkillMachine>;
  /** Ends the event-loop turn. */
  pause(): Promise<void>;
  /** The call has read a skill that may be another person's. */
  taint(): void;
}

export interface SkillPowers {
  readonly skills: SkillAccess;
}

const nameCharactersMax = 64;
/** Skills compared with the agent's grants in one event-loop turn. */
const skillsPerTurnMax = 16;

/** Not listed where no skill can be: every listed tool costs the model context. */
const isListed = ({ skills }: SkillPowers): boolean => skills.hasFolder();

const listTool: BuiltinTool<SkillPowers> = {
  name: "skills_list",
  description:
    "List your skills: instructions for tasks that your grants allow. Read one with skills_read before you do such a task.",
  input: objectSchema({}, []),
  verbs: [],
  isListed,
  requests: () => done([]),
  execute: async (_, { skills: access }) => {
    const skills = await skillsOf(access);
    if (skills === null) return ENDED;
    if (skills.some(isUntrusted)) access.taint();
    return useResult({ skills: skills.map(({ name, description }) => ({ name, description })) });
  },
};

const readTool: BuiltinTool<SkillPowers> = {
  name: "skills_read",
  description: "Read the instructions of one of your skills, by its name in skills_list.",
  input: objectSchema({ name: textSchema("The name of the skill.", 1, nameCharactersMax) }, ["name"]),
  verbs: [],
  isListed,
  requests: () => done([]),
  execute: async (input, { skills: access }) => {
    const wanted = textIn(input, "name", nameCharactersMax);
    const skills = await skillsOf(access);
    if (skills === null) return ENDED;
    const skill = skills.find(({ name }) => name === wanted);
    // The same answer for a skill that is not there and for one that needs more than the agent holds.
    if (skill === undefined) return useDenial("not_found", null, `you have no skill called ${JSON.stringify(wanted)}`);
    if (isUntrusted(skill)) access.taint();
    const { name, description, compatibility, body } = skill;
    return useResult({ name, description, compatibility, text: body.trim() });
  },
};

export const SKILL_TOOLS: readonly BuiltinTool<SkillPowers>[] = [listTool, readTool];

const ENDED = useDenial("revoked", null, "the session has no grants any more");

async function skillsOf(access: SkillAccess): Promise<readonly Skill[] | null> {
  const held = access.held();
  if (held === null) return null;
  const { authority, reading, moment } = held;
  const holder: SkillHolder = { authority, grants: heldGrants(authority), workingRoot: reading.workingRoot ?? null };
  const machine = await access.open((id) => {
    const request = recordRequest("records.read", "skill", id);
    return request.ok && judge(authority, request.value, moment).outcome === "allow";
  });
  const own: Skill[] = [];
  for (const [at, skill] of openSkills(machine, reading).skills.entries()) {
    if (at % skillsPerTurnMax === skillsPerTurnMax - 1) await access.pause();
    if (checkSkill(skill, holder, reading, moment).satisfied) own.push(skill);
  }
  return own;
}

/** Files of the project may be another person's, and trusting the project does not review them. */
function isUntrusted({ origin }: Skill): boolean {
  return origin === "project" || origin === "record";
}
