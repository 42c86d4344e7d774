// The words of `ambit mcp`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { McpServeOptions } from "./mcp.ts";

/** `serve` is another program's: what it loads, no other command has to. */
export function addMcp(
  program: Command,
  serve: (options: McpServeOptions) => Promise<ExitCode>,
  end: (exit: ExitCode) => void,
): void {
  const mcp = program.command("mcp").description("tools for clients of the Model Context Protocol");
  mcp
    .command("serve")
    .description("serve an agent's tools over standard input and output")
    .option("--agent <id>", "an id in .ambit/agents, a file, or an agent that another made")
    .option("--user <name>", "on whose behalf; their own record, if they have one, is one more ceiling")
    .option("--pledge <specs...>", "hold no more than this")
    .option("--wait <seconds>", "let a call wait so long for a person where one has to approve")
    .option("--in <folder>", "where the workspace is looked for and relative paths are read; here if left out")
    .option("--unconfined", "without an agent and without caveats: everything your user may have done", false)
    .action(async (options: McpServeOptions) => end(await serve(options)));
  for (const one of [mcp, ...mcp.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit mcp serve --agent scout
  claude mcp add ambit -- ambit mcp serve --agent scout
  AMBIT_CAVEATS='{"fs_read":"all","fs_write":{"only":[]},"exec":{"only":["git"]},"net":{"only":[]},"max_calls":{"at_most":50},"valid_for_generation":"all"}' ambit mcp serve

As most clients write it: {"command": "ambit", "args": ["mcp", "serve", "--agent", "scout"]}

Without --agent the grants are those of AMBIT_CAVEATS, else of the [caveats] table in caveats.toml in your configuration
folder, else nothing. A client gets the tools that can ever be allowed; a call that is denied is a result with isError.

Exit status: 0 the client is gone, 4 no daemon, 2 usage, 1 error.`;
