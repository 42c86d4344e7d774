// `ambit skills list | show | check`: the skills there are, and whether an agent may do what they need.

import type { LoadResult } from "../../agents/disk/loaded-agent.ts";
import { openSkills, type SkillMachine } from "../../agents/skills/record-skills.ts";
import type { Skill } from "../../agents/skills/skill.ts";
import { checkSkill, type Gap, skillsFor } from "../../agents/skills/skill-check.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { nearestName } from "../../core/notation/nearest.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Paint } from "../terminal/paint.ts";
import { fail, hasErrors, type JsonOption, printProblems, showProblem } from "../terminal/problems.ts";

export interface SkillsPorts {
  readonly paint: Paint;
  readonly moment: Moment;
  readonly skills: {
    readonly machine: SkillMachine;
    /** By the workspace: where an agent without a folder of its own would work. */
    readonly reading: Reading;
  };
  loadAgent(name: string): LoadResult;
  print(text: string): void;
  printError(text: string): void;
}

export interface SkillsListOptions extends JsonOption {
  readonly agent?: string | undefined;
}

export interface SkillsCheckOptions extends JsonOption {
  readonly agent: string;
}

/** With an agent only what it may do, and not a word of the rest. */
export function skillsList(ports: SkillsPorts, options: SkillsListOptions): ExitCode {
  const { machine, reading } = ports.skills;
  const { skills, problems } = openSkills(machine, reading);
  if (options.agent === undefined) {
    if (options.json) ports.print(jsonLine({ skills: skills.map(summary), problems: problems.map(showProblem) }));
    else {
      printProblems(ports, problems);
      printSkills(ports, skills);
    }
    return hasErrors(problems) ? EXIT.error : EXIT.ok;
  }
  const loaded = ports.loadAgent(options.agent);
  if (!loaded.ok) return fail(ports, options, EXIT.error, loaded.message, loaded.fix);
  const own = skillsFor(skills, loaded.value.agent, reading, ports.moment);
  if (options.json) ports.print(jsonLine({ agent: loaded.value.agent.id, skills: own.map(summary) }));
  else if (own.length === 0 && skills.length > 0)
    ports.print(
      ports.paint.dim(
        `none of ${skills.length}: ambit skills check <skill> --agent ${visibleText(loaded.value.agent.id)} shows what is missing`,
      ),
    );
  else printSkills(ports, own);
  return EXIT.ok;
}

export function skillsShow(ports: SkillsPorts, name: string, options: JsonOption): ExitCode {
  const skill = find(ports, name, options);
  if (skill === null) return EXIT.error;
  if (options.json) {
    ports.print(jsonLine({ ...summary(skill), body: skill.body }));
    return EXIT.ok;
  }
  const { paint } = ports;
  ports.print(line(skill, paint));
  ports.print(paint.dim(`  ${visibleText(skill.file)}`));
  if (skill.compatibility !== null) ports.print(`  needs: ${visibleText(skill.compatibility)}`);
  for (const token of tokensOf(skill)) ports.print(`  tool: ${visibleText(token)}`);
  ports.print("");
  for (const one of skill.body.trim().split(/\r\n?|\n/)) ports.print(visibleText(one));
  return EXIT.ok;
}

export function skillsCheck(ports: SkillsPorts, name: string, options: SkillsCheckOptions): ExitCode {
  const skill = find(ports, name, options);
  if (skill === null) return EXIT.error;
  const loaded = ports.loadAgent(options.agent);
  if (!loaded.ok) return fail(ports, options, EXIT.error, loaded.message, loaded.fix);
  const { agent } = loaded.value;
  const { satisfied, held, missing } = checkSkill(skill, agent, ports.skills.reading, ports.moment);
  const gaps = missing.map((gap) => ({
    tool: gap.token,
    verb: gap.verb,
    grant: specOf(gap),
    command: commandOf(agent.id, gap),
  }));
  const { unknown, unreadable } = skill.tools;
  if (options.json)
    ports.print(jsonLine({ skill: skill.name, agent: agent.id, satisfied, held, missing: gaps, unknown, unreadable }));
  else {
    const { paint } = ports;
    ports.print(
      `${satisfied ? paint.good("satisfied") : paint.bad("not satisfied")}  ${skill.name}  ${visibleText(agent.id)}`,
    );
    for (const token of held) ports.print(`  ${paint.good("✓")} ${visibleText(token)}`);
    for (const { tool, verb, grant } of gaps)
      ports.print(`  ${paint.bad("✗")} ${visibleText(tool)}  ${grant === null ? `any ${verb}` : visibleText(grant)}`);
    for (const token of unreadable) ports.print(`  ${paint.bad("?")} ${visibleText(token)}  cannot be parsed`);
    for (const token of unknown) ports.print(`  ${paint.warn("?")} ${visibleText(token)}  unknown tool`);
    const commands = [...new Set(gaps.map(({ command }) => command))];
    if (commands.length > 0) ports.print("missing grants:");
    for (const command of commands) ports.print(`  ${paint.strong(visibleText(command))}`);
  }
  return satisfied ? EXIT.ok : EXIT.deny;
}

function specOf({ grant }: Gap): string | null {
  return grant === null ? null : compactText(grant);
}

/** Where any scope would do, a person has to choose it: no command we print is as wide as that. */
function commandOf(agent: string, gap: Gap): string {
  const chosen = gap.verb.startsWith("agent.") ? "ids=[ID]" : "hosts=[HOST]";
  return `ambit agents grant ${word(agent)} ${word(specOf(gap) ?? `${gap.verb}{${chosen}}`)}`;
}

/** As one word of a shell. */
function word(text: string): string {
  return /^[\w./@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function find(ports: SkillsPorts, name: string, options: JsonOption): Skill | null {
  const { machine, reading } = ports.skills;
  const { skills, problems } = openSkills(machine, reading);
  const skill = skills.find((one) => one.name === name);
  if (skill !== undefined) return skill;
  const nearest = nearestName(
    name,
    skills.map((one) => one.name),
  );
  const unread = problems.length > 0 ? "some files are not valid skills: ambit skills list" : null;
  const fix = nearest === null ? unread : `did you mean ${nearest}?`;
  fail(ports, options, EXIT.error, `no skill ${JSON.stringify(name.slice(0, 200))}`, fix);
  return null;
}

function printSkills(ports: SkillsPorts, skills: readonly Skill[]): void {
  for (const skill of skills) ports.print(line(skill, ports.paint));
  if (skills.length === 0) ports.print(ports.paint.dim("no skills; add them as .ambit/skills/<name>/SKILL.md"));
}

function line({ name, description, origin }: Skill, paint: Paint): string {
  return `${paint.strong(name)}  ${paint.dim(origin)}  ${visibleText(description.replace(/\s+/g, " ").trim())}`;
}

function summary(skill: Skill): object {
  const { name, description, compatibility, origin, file } = skill;
  return { name, description, compatibility, origin, file, tools: tokensOf(skill) };
}

export function tokensOf({ tools: { tools, unknown, unreadable } }: Skill): readonly string[] {
  return [...tools.map(({ token }) => token), ...unreadable, ...unknown];
}
