// The words of `ambit doctor`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import { type DoctorOptions, type DoctorWorld, doctor } from "./doctor.ts";

/** Adds the command to the program; `end` is told how it has ended. */
export function addDoctor(program: Command, world: DoctorWorld, end: (exit: ExitCode) => void): void {
  program
    .command("doctor")
    .description("what is wrong, risky or without effect, in the agents here and on this machine")
    .argument("[agents...]", "ids or files; all agents of the workspace if none is named")
    .option("--json", "one object instead of lines", false)
    .option("--fix", "mend what is plainly misspelt or outdated", false)
    .option("-y, --yes", "skip the question; what would give an agent more is then left alone", false)
    .option("--allow-widening", "with --yes: mend that as well", false)
    .addHelpText("after", EXAMPLES)
    .action(async (agents: string[], options: DoctorOptions) => end(await doctor(world, agents, options)));
}

const EXAMPLES = `
Examples:
  ambit doctor
  ambit doctor scout --json
  ambit doctor --fix              shows each change and asks
  ambit doctor --fix --yes        makes the changes that give no agent more than it has

Exit status: 0 nothing wrong or warnings only, 3 errors in a policy, 1 the machine or a file that could not be written.`;
