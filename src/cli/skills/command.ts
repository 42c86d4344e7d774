// The words of `ambit skills`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { Asked } from "../terminal/problems.ts";
import {
  type SkillsCheckOptions,
  type SkillsListOptions,
  type SkillsWorld,
  skillsCheck,
  skillsList,
  skillsShow,
} from "./skills.ts";

/** Adds the commands to the program; `end` is told how the one that ran has ended. */
export function addSkills(program: Command, world: SkillsWorld, end: (exit: ExitCode) => void): void {
  const skills = program.command("skills").description("instructions agents may use, and the tools they need");
  skills
    .command("list")
    .description("all skills, or those an agent may do everything for")
    .option("--agent <id>", "only what this agent may do")
    .option("--json", "one object instead of lines", false)
    .action((options: SkillsListOptions) => end(skillsList(world, options)));
  skills
    .command("show")
    .description("one skill and its instructions")
    .argument("<name>")
    .option("--json", "one object instead of lines", false)
    .action((name: string, options: Asked) => end(skillsShow(world, name, options)));
  skills
    .command("check")
    .description("whether an agent may do what a skill needs, and the grant that would close the gap")
    .argument("<skill>")
    .requiredOption("--agent <id>", "an id in .ambit/agents, or a file")
    .option("--json", "one object instead of lines", false)
    .action((name: string, options: SkillsCheckOptions) => end(skillsCheck(world, name, options)));
  for (const one of [skills, ...skills.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit skills list --agent scout
  ambit skills show release-notes
  ambit skills check release-notes --agent scout

Exit status: 0 done or satisfied, 10 not satisfied, 1 no such skill or a file that is none, 2 usage.`;
