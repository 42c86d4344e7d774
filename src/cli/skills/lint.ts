// `ambit skills lint`: what a skill's `allowed-tools` gives itself in each client, and what an agent's record allows of it.

import { openSkills } from "../../agents/skills/record-skills.ts";
import type { Skill } from "../../agents/skills/skill.ts";
import { checkSkill } from "../../agents/skills/skill-check.ts";
import { claudeMeaning } from "../../clients/rules/read-rules.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, hasErrors, type JsonOption, printProblems, showProblem } from "../terminal/problems.ts";
import { type SkillsPorts, tokensOf } from "./skills.ts";

export interface SkillsLintOptions extends JsonOption {
  readonly agent?: string | undefined;
}

interface TokenLint {
  readonly tool: string;
  /** What Claude Code lets the skill do without asking while it is in use. */
  readonly claude: string;
  /** What the record says; null without an agent. */
  readonly record: "allowed" | "missing" | "unknown" | null;
  readonly isFinding: boolean;
}

/** `allowed-tools` is a grant in Claude Code, also in an untrusted folder; the others are not known to read it. */
const OTHERS = "Codex, opencode, Gemini CLI, Cursor, Copilot CLI, VS Code";

export function skillsLint(ports: SkillsPorts, name: string | undefined, options: SkillsLintOptions): ExitCode {
  const { machine, reading } = ports.skills;
  const shelves = [machine.sources(), ...(machine.clientSources?.() ?? []).map((source) => [source])].map((sources) =>
    openSkills({ ...machine, sources: () => sources }, reading),
  );
  const skills = shelves.flatMap((collection) => collection.skills);
  const problems = shelves.flatMap((collection) => collection.problems);
  const chosen = name === undefined ? skills : skills.filter((one) => one.name === name);
  if (name !== undefined && chosen.length === 0)
    return fail(ports, options, EXIT.error, `no skill ${JSON.stringify(name.slice(0, 200))}`, "ambit skills list");
  const loaded = options.agent === undefined ? null : ports.loadAgent(options.agent);
  if (loaded !== null && !loaded.ok) return fail(ports, options, EXIT.error, loaded.message, loaded.fix);
  const agent = loaded?.value.agent ?? null;
  const found = chosen.map((skill) => {
    const check = agent === null ? null : checkSkill(skill, agent, reading, ports.moment);
    return { skill, tools: tokensOf(skill).map((token) => tokenLint(token, skill, check)) };
  });
  const isClean = !found.some(({ tools }) => tools.some(({ isFinding }) => isFinding));
  if (options.json) {
    const listed = found.map(({ skill, tools }) => ({ skill: skill.name, file: skill.file, tools }));
    ports.print(jsonLine({ agent: agent?.id ?? null, skills: listed, problems: problems.map(showProblem) }));
  } else {
    printProblems(ports, problems);
    for (const one of found) tell(ports, one.skill, one.tools, agent?.id ?? null);
    if (found.length === 0) ports.print("no skills");
    else ports.print(ports.paint.dim(`${OTHERS}: not known to read \`allowed-tools\`; it gives nothing there`));
  }
  if (hasErrors(problems)) return EXIT.error;
  return isClean ? EXIT.ok : EXIT.deny;
}

function tokenLint(token: string, skill: Skill, check: ReturnType<typeof checkSkill> | null): TokenLint {
  const { meaning } = claudeMeaning(token);
  const isUnknown = skill.tools.unknown.includes(token) || skill.tools.unreadable.includes(token);
  const record = check === null ? null : isUnknown ? "unknown" : check.held.includes(token) ? "allowed" : "missing";
  const isWide = meaning.kind === "broad" || meaning.kind === "dead" || (meaning.kind === "grants" && meaning.isBroad);
  return { tool: token, claude: claudeText(meaning), record, isFinding: isWide || record === "missing" };
}

function claudeText(meaning: ReturnType<typeof claudeMeaning>["meaning"]): string {
  switch (meaning.kind) {
    case "grants":
      return meaning.isBroad ? "without asking, and it is too broad" : "without asking";
    case "broad":
      return `without asking, and ${meaning.why}`;
    case "dead":
      return `gives nothing: ${meaning.why}`;
    case "free":
      return "needs no rule";
    case "unreadable":
      return `cannot be parsed: ${meaning.why}`;
    default:
      return meaning satisfies never;
  }
}

function tell(ports: SkillsPorts, skill: Skill, tools: readonly TokenLint[], agent: string | null): void {
  const { paint } = ports;
  ports.print(`${paint.strong(skill.name)}  ${paint.dim(visibleText(skill.file))}`);
  if (tools.length === 0) ports.print("  no `allowed-tools`: it gives itself nothing");
  for (const { tool, claude, record, isFinding } of tools) {
    const own = record === null ? "" : `; ${visibleText(agent ?? "")}: ${RECORD[record]}`;
    ports.print(
      `  ${isFinding ? paint.bad("✗") : paint.good("✓")} ${visibleText(tool)}  Claude Code: ${visibleText(claude)}${own}`,
    );
  }
}

const RECORD = {
  allowed: "the record has grants for it, whose scope and `ask` decide each call",
  missing: "the record does not allow it (ambit skills check)",
  unknown: "not known here; the hook decides",
} as const;
