// The words of `ambit init`, `schema` and `completion`, and the one that shells ask with.
import type { Command } from "commander";
import { SCHEMA_NAMES } from "../../agents/schema/schema.ts";
import { type CompletionWorld, complete } from "../completion/completion.ts";
import { completion, SHELLS } from "../completion/scripts.ts";
import { schema } from "../schema/schema.ts";
import type { ExitCode } from "../terminal/exit.ts";
import type { Asked } from "../terminal/problems.ts";
import { INIT_EXAMPLES, type InitOptions, type InitWorld, init } from "./init.ts";

export type FirstStepsWorld = InitWorld & CompletionWorld;

/**
 * Adds the commands to the program, the last of all: what can be completed is what was added before. `behind` is what
 * stood behind `--`; `end` is told how the command that ran has ended.
 */
export function addFirstSteps(
  program: Command,
  world: FirstStepsWorld,
  behind: readonly string[],
  end: (exit: ExitCode) => void,
): void {
  program
    .command("init")
    .description("look at this project and write a first agent")
    .option("--yes", "ask nothing; a reader unless --preset says otherwise", false)
    .option("--preset <names>", "reader, reviewer, coder, researcher; several split at commas")
    .option("--json", "one object instead of lines; with --yes only", false)
    .addHelpText("after", INIT_EXAMPLES)
    .action(async (options: InitOptions) => end(await init(world, options)));
  program
    .command("schema")
    .description("the JSON Schema of a record or a configuration, for editors")
    .argument("[name]", SCHEMA_NAMES.join(", "))
    .option("--json", "one object with the schema, its place and the editor's line", false)
    .addHelpText("after", SCHEMA_EXAMPLES)
    .action((name: string | undefined, options: Asked) => end(schema(world, name, options)));
  program
    .command("completion")
    .description("the script that completes agents, verbs and commands in a shell")
    .argument("<shell>", SHELLS.join(", "))
    .option("--json", "one object with the script and where it goes", false)
    .addHelpText("after", COMPLETION_EXAMPLES)
    .action((shell: string, options: Asked) => end(completion(world, shell, options)));
  program.command("__complete", { hidden: true }).action(() => end(complete(world, program, behind)));
}

const SCHEMA_EXAMPLES = `
Examples:
  ambit schema                     which there are, and the line for the editor
  ambit schema config > .ambit/schema/config.json
  ambit schema record --json`;

const COMPLETION_EXAMPLES = `
Examples:
  source <(ambit completion bash)      in ~/.bashrc
  source <(ambit completion zsh)       in ~/.zshrc, behind compinit
  ambit completion fish | source       in config.fish`;
