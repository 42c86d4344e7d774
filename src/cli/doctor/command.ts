// The words of `ambit doctor`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import { type DoctorOptions, type DoctorPorts, doctor } from "./doctor.ts";

/** Adds the command to the program; `end` is told how it has ended. */
export function addDoctor(program: Command, ports: DoctorPorts, end: (exit: ExitCode) => void): void {
  program
    .command("doctor")
    .description("find errors, risks and ineffective grants in the agents here, and problems of this machine")
    .argument("[agents...]", "ids or files; default: all agents of the workspace")
    .option("--json", "print one JSON object", false)
    .option("--fix", "fix spelling mistakes and outdated notation", false)
    .option("-y, --yes", "do not ask for confirmation; skip fixes that would widen an agent's grants", false)
    .option("--allow-widening", "with --yes: also apply fixes that widen grants", false)
    .option("--clients", "also start each connected client, to see that it obeys its hook", false)
    .addHelpText("after", EXAMPLES)
    .action(async (agents: string[], options: DoctorOptions) => end(await doctor(ports, agents, options)));
}

const EXAMPLES = `
Examples:
  ambit doctor
  ambit doctor scout --json
  ambit doctor --clients          a few seconds for each client
  ambit doctor --fix              shows each change and asks for confirmation
  ambit doctor --fix --yes        applies fixes that widen no grants

Exit status: 0 no errors, 3 errors in a policy, 1 errors of the machine or a file that could not be written.`;
