// The words of `ambit run` and `ambit profiles`, and their help.
import type { Command } from "commander";
import type { ControlPorts } from "../control-ports.ts";
import type { ExecPorts } from "../exec/ports.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { clientsList, profilesList, profilesShow, type RunOptions, runClient } from "./run.ts";

/** `behind` is the client and its arguments. */
export function addRun(
  program: Command,
  ports: ExecPorts & ControlPorts,
  behind: readonly string[],
  end: (exit: ExitCode) => void,
): void {
  program
    .command("run")
    .description("run a whole agent client, such as claude, in the sandbox of an agent")
    .argument("[agent]", "an id in .ambit/agents, or a file; without one, list the clients on this machine")
    .option("--in <folder>", "the root: the only folder of this machine the client sees")
    .option("--user <name>", "act for this user; the user's record, if any, limits the grants further")
    .option("--pledge <specs...>", "limit the grants of this run to these specs")
    .option("--wait <seconds>", "how long to wait if the start, or a request to a model, needs approval")
    .option("--fresh", "empty the home that this agent's clients keep from one run to the next", false)
    .option(
      "--learn",
      "at the end, list the refused requests with the grants that would allow them; grants nothing",
      false,
    )
    .option("--json", "capture the output and print one JSON object at the end", false)
    .addHelpText("after", RUN_EXAMPLES)
    .allowExcessArguments()
    .action(async (agent: string | undefined, options: RunOptions, { args }: Command) => {
      const [, ...before] = args;
      if (agent === undefined && behind.length === 0) end(clientsList(ports, options));
      else if (agent === undefined || before.length > 0)
        end(fail(ports, options, EXIT.usage, "write the agent, then the client", "ambit run coder claude"));
      else end(await runClient(ports, agent, behind, options));
    });
  const profiles = program.command("profiles").description("list and show the profiles of agent clients");
  profiles
    .command("list")
    .description("list profiles")
    .option("--json", "print one JSON object", false)
    .action((options: JsonOption) => end(profilesList(ports, options)));
  profiles
    .command("show")
    .description("show what a client gets")
    .argument("<profile>", "an id such as ambit:codex@1, or the name of the client's program")
    .option("--json", "print one JSON object", false)
    .action((name: string, options: JsonOption) => end(profilesShow(ports, name, options)));
  for (const one of [profiles, ...profiles.commands]) one.addHelpText("after", PROFILES_EXAMPLES);
}

const RUN_EXAMPLES = `
Examples:
  ambit run
  ambit run coder claude
  ambit run coder claude -p 'fix the failing test' --output-format json
  ambit run --fresh coder codex exec 'run the tests'
  ambit run --learn coder claude

The client and all words after it are its own. \`--\` before it is allowed, and needed after --pledge.
The grant must cover the client with root live: proc.exec: { cmds: [claude], root: live }.
Exit status: that of the client; 125 refused by ambit: the code is on stderr and in --json.`;

const PROFILES_EXAMPLES = `
Examples:
  ambit profiles list
  ambit profiles show ambit:claude-code@1

Exit status: 0 done, 1 no such profile, 2 usage.`;
