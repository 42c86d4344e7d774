// The words of `ambit skills`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
import { type SkillsLintOptions, skillsLint } from "./lint.ts";
import {
  type SkillsCheckOptions,
  type SkillsListOptions,
  type SkillsPorts,
  skillsCheck,
  skillsList,
  skillsShow,
} from "./skills.ts";

/** Adds the commands to the program; `end` is told how the one that ran has ended. */
export function addSkills(program: Command, ports: SkillsPorts, end: (exit: ExitCode) => void): void {
  const skills = program
    .command("skills")
    .description("list, show and check skills: instructions for agents and the tools they need");
  skills
    .command("list")
    .description("list skills")
    .option("--agent <id>", "only skills whose tools this agent may use")
    .option("--json", "print one JSON object", false)
    .action((options: SkillsListOptions) => end(skillsList(ports, options)));
  skills
    .command("show")
    .description("show one skill and its instructions")
    .argument("<name>")
    .option("--json", "print one JSON object", false)
    .action((name: string, options: JsonOption) => end(skillsShow(ports, name, options)));
  skills
    .command("check")
    .description("check whether an agent's grants cover a skill, and show the missing grants")
    .argument("<skill>")
    .requiredOption("--agent <id>", "an id in .ambit/agents, or a file")
    .option("--json", "print one JSON object", false)
    .action((name: string, options: SkillsCheckOptions) => end(skillsCheck(ports, name, options)));
  skills
    .command("lint")
    .description("show what `allowed-tools` of skills gives them in each client, and what a record allows of it")
    .argument("[skill]", "default: all")
    .option("--agent <id>", "compare with this agent's grants")
    .option("--json", "print one JSON object", false)
    .action((name: string | undefined, options: SkillsLintOptions) => end(skillsLint(ports, name, options)));
  for (const one of [skills, ...skills.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit skills list --agent scout
  ambit skills show release-notes
  ambit skills check release-notes --agent scout
  ambit skills lint --agent scout

Exit status: 0 done or satisfied, 10 not satisfied or too much, 1 no such skill or not a skill file, 2 usage.`;
