// The words of `ambit init`, `schema` and `completion`, and the one that shells ask with.
import type { Command } from "commander";
import { SCHEMA_NAMES } from "../../agents/schema/schema.ts";
import { type CompletionPorts, complete } from "../completion/completion.ts";
import { completion, SHELLS } from "../completion/scripts.ts";
import { type ConnectPorts, connect } from "../connect/connect.ts";
import { schema } from "../schema/schema.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
import {
  type ConnectClient,
  type ConnectOutcome,
  INIT_EXAMPLES,
  type InitOptions,
  type InitPorts,
  init,
} from "./init.ts";

export type FirstStepsPorts = InitPorts &
  CompletionPorts & {
    /** For files that were written since. */
    fresh(): ConnectPorts;
  };

/**
 * Adds the commands to the program, the last of all: what can be completed is what was added before. `behind` is what
 * stood behind `--`; `end` is told how the command that ran has ended.
 */
export function addFirstSteps(
  program: Command,
  ports: FirstStepsPorts,
  behind: readonly string[],
  end: (exit: ExitCode) => void,
): void {
  program
    .command("init")
    .description("detect the kind of project and create a first agent")
    .option("--yes", "do not ask; create a reader unless --preset names others", false)
    .option("--preset <names>", "reader, reviewer, coder, researcher; comma-separated")
    .option("--connect", "connect each agent client that was found to the agent, without asking", false)
    .option("--json", "print one JSON object; requires --yes", false)
    .addHelpText("after", INIT_EXAMPLES)
    .action(async (options: InitOptions) => {
      const connectFound: ConnectClient = (...asked) => connectClient(ports.fresh(), options, ...asked);
      end(await init(ports, options, connectFound));
    });
  program
    .command("schema")
    .description("print the JSON Schema of records or configuration, for editors")
    .argument("[name]", SCHEMA_NAMES.join(", "))
    .option("--json", "print one JSON object: the schema, its path and the line for the editor", false)
    .addHelpText("after", SCHEMA_EXAMPLES)
    .action((name: string | undefined, options: JsonOption) => end(schema(ports, name, options)));
  program
    .command("completion")
    .description("print the shell completion script for commands, agents and verbs")
    .argument("<shell>", SHELLS.join(", "))
    .option("--json", "print one JSON object: the script and where to install it", false)
    .addHelpText("after", COMPLETION_EXAMPLES)
    .action((shell: string, options: JsonOption) => end(completion(ports, shell, options)));
  program.command("__complete", { hidden: true }).action(() => end(complete(ports, program, behind)));
}

/** With `--json` its own output would be a second object. */
async function connectClient(
  ports: ConnectPorts,
  { json }: InitOptions,
  client: string,
  agent: string,
  isAgreed: boolean,
): Promise<ConnectOutcome> {
  const { paint, print, printError, terminal, cwd, clientSettings, servers, loadAgent, workspaceAt } = ports;
  const quiet: ConnectPorts = {
    ...{
      paint,
      printError,
      terminal,
      cwd,
      clientSettings,
      servers,
      loadAgent,
      ...(workspaceAt ? { workspaceAt } : {}),
    },
    print: json ? () => undefined : print,
    admit: (asked) => ports.admit(asked),
  };
  const { isInteractive } = terminal;
  const exit = await connect(quiet, client, {
    ...{ json, agent, project: true, sandbox: true, verify: true, yes: isAgreed },
  });
  if (exit === EXIT.ok) return "connected";
  return isInteractive && !isAgreed ? "declined" : "failed";
}

const SCHEMA_EXAMPLES = `
Examples:
  ambit schema                     list the schemas and the line for the editor
  ambit schema config > .ambit/schema/config.json
  ambit schema record --json`;

const COMPLETION_EXAMPLES = `
Examples:
  source <(ambit completion bash)      in ~/.bashrc
  source <(ambit completion zsh)       in ~/.zshrc, after compinit
  ambit completion fish | source       in config.fish`;
