// The words of `ambit lsp`, and its help. `bin/ambit` starts the program behind it.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";

/** Adds the command; `serve` answers an editor until it closes the connection. */
export function addLsp(program: Command, serve: () => Promise<ExitCode>, end: (exit: ExitCode) => void): void {
  program
    .command("lsp")
    .description("serve an editor: diagnostics, explanations, completion and quick fixes in records and config.yml")
    .option("--stdio", "use standard input and output; the default, accepted because editors pass it")
    .addHelpText("after", EXAMPLES)
    .action(async () => end(await serve()));
}

const EXAMPLES = `
Examples:
  ambit lsp                                    started by an editor that uses the Language Server Protocol
  vim.lsp.start({ cmd = { "ambit", "lsp" } })  in Neovim

It reads files in .ambit/agents, .ambit/config.yml and your own config.yml. It changes nothing and grants nothing.
\`ambit doctor\` shows more: the machine, other agents, dead rules. Without it, the schemas that \`ambit init\` writes serve editors with yaml-language-server.

Exit status: 0 the editor ended it, 1 the connection was lost, 2 usage.`;
