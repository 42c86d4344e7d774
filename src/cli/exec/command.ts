// The words of `ambit exec`, and its help.
import type { Command } from "commander";
import type { ControlWorld } from "../control-world.ts";
import { commandText } from "../terminal/command-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { fail } from "../terminal/problems.ts";
import { type ExecOptions, exec } from "./exec.ts";
import type { ExecWorld } from "./world.ts";

/** `behind` is the program and its arguments: everything behind `--`, whatever it looks like. */
export function addExec(
  program: Command,
  world: ExecWorld & ControlWorld,
  behind: readonly string[],
  end: (exit: ExitCode) => void,
): void {
  program
    .command("exec")
    .description("run a program inside an agent's bounds, held by the kernel")
    .argument("<agent>", "an id in .ambit/agents, or a file")
    .option("--in <folder>", "the root: the one folder of this machine it sees")
    .option("--root <mode>", "ro, rw or live; without it rw where the grants allow it")
    .option("--shell", "what stands behind -- is one shell line (proc.eval)", false)
    .option("--throwaway", "nothing of this machine is in it (sandbox.exec)", false)
    .option("--timeout <seconds>", "end it then, and everything it started")
    .option("--user <name>", "on whose behalf; their own record, if they have one, is one more ceiling")
    .option("--pledge <specs...>", "hold no more than this while it runs")
    .option("--wait <seconds>", "wait so long for a person where one has to approve")
    .option("--review", "apply nothing it writes before you have seen the changes and agreed", false)
    .option("--json", "one object: status, output, usage, denials, enforcement", false)
    .addHelpText("after", EXAMPLES)
    .allowExcessArguments()
    .action(async (agent: string, options: ExecOptions, { args }: Command) => {
      const [, ...before] = args;
      // What is written in front of `--` would be read as words of ours.
      if (before.length === 0) end(await exec(world, agent, behind, options));
      else {
        const again = commandText(["exec", agent, "--", ...before, ...behind]);
        end(fail(world, options, EXIT.usage, "the program stands behind `--`", again));
      }
    });
}

const EXAMPLES = `
Examples:
  ambit exec coder -- git status
  ambit exec coder --root ro -- npm test
  ambit exec coder --review -- npm install
  ambit exec coder --shell -- 'ls | wc -l'
  ambit exec coder --throwaway -- python3 -c 'print(6 * 7)'
  ambit exec scout --json -- curl -sS https://api.github.com/zen

Exit status: the program's own; 128 and the signal that ended it; 124 its time was over; 127 there is no such program;
125 we refused: the code is on stderr, and in --json.`;
