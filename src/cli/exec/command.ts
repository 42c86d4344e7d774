// The words of `ambit exec`, and its help.
import type { Command } from "commander";
import type { ControlPorts } from "../control-ports.ts";
import { commandText } from "../terminal/command-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { fail } from "../terminal/problems.ts";
import { type ExecOptions, exec } from "./exec.ts";
import type { ExecPorts } from "./ports.ts";

/** `behind` is the program and its arguments: everything behind `--`, whatever it looks like. */
export function addExec(
  program: Command,
  ports: ExecPorts & ControlPorts,
  behind: readonly string[],
  end: (exit: ExitCode) => void,
): void {
  program
    .command("exec")
    .description("run a program in a sandbox with an agent's grants")
    .argument("<agent>", "an id in .ambit/agents, or a file")
    .option("--in <folder>", "the root: the only folder of this machine the program sees")
    .option("--root <mode>", "ro, rw or live; default: rw if the grants allow it")
    .option("--shell", "run the text after -- as one shell line (proc.eval)", false)
    .option("--throwaway", "mount no folder of this machine (sandbox.exec)", false)
    .option("--timeout <seconds>", "kill the program and its child processes after this time")
    .option("--user <name>", "act for this user; the user's record, if any, limits the grants further")
    .option("--pledge <specs...>", "limit the grants of this run to these specs")
    .option("--wait <seconds>", "how long to wait if the call needs approval")
    .option("-t, --terminal", "give the program a terminal of its own, shown on yours", false)
    .option("--review", "show the files it wrote and ask before they land in the project", false)
    .option("--json", "print one JSON object: status, output, usage, denials, enforcement", false)
    .addHelpText("after", EXAMPLES)
    .allowExcessArguments()
    .action(async (agent: string, options: ExecOptions, { args }: Command) => {
      const [, ...before] = args;
      // What is written in front of `--` would be read as words of ours.
      if (before.length === 0) end(await exec(ports, agent, behind, options));
      else {
        const again = commandText(["exec", agent, "--", ...before, ...behind]);
        end(fail(ports, options, EXIT.usage, "write the program after `--`", again));
      }
    });
}

const EXAMPLES = `
Examples:
  ambit exec coder -- git status
  ambit exec coder --root ro -- npm test
  ambit exec coder --review -- npm install
  ambit exec coder -t --root live -- vim README.md
  ambit exec coder --shell -- 'ls | wc -l'
  ambit exec coder --throwaway -- python3 -c 'print(6 * 7)'
  ambit exec scout --json -- curl -sS https://api.github.com/zen

Exit status: that of the program; 128 plus the signal that killed it; 124 timeout; 127 program not found; 125 refused by
ambit: the code is on stderr and in --json.`;
