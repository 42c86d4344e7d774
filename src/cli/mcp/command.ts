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
  const mcp = program.command("mcp").description("serve tools to clients of the Model Context Protocol");
  mcp
    .command("serve")
    .description("serve an agent's tools over standard input and output")
    .option("--agent <id>", "an id in .ambit/agents, a file, or an agent created by another agent")
    .option("--user <name>", "act for this user; the user's record, if any, limits the grants further")
    .option("--pledge <specs...>", "limit the grants of this session to these specs")
    .option("--wait <seconds>", "how long a call waits if it needs approval")
    .option(
      "--in <folder>",
      "the working folder, used to find the workspace and resolve relative paths; default: this one",
    )
    .option("--unconfined", "if neither an agent nor caveats are given, grant everything your user may do", false)
    .action(async (options: McpServeOptions) => end(await serve(options)));
  for (const one of [mcp, ...mcp.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit mcp serve --agent scout
  claude mcp add ambit -- ambit mcp serve --agent scout
  AMBIT_CAVEATS='{"fs_read":"all","fs_write":{"only":[]},"exec":{"only":["git"]},"net":{"only":[]},"max_calls":{"at_most":50},"valid_for_generation":"all"}' ambit mcp serve

In most client configurations: {"command": "ambit", "args": ["mcp", "serve", "--agent", "scout"]}

Without --agent, the grants come from AMBIT_CAVEATS, else from the [caveats] table of caveats.toml in your configuration
folder; else there are none. The client sees the tools its grants can allow; a denied call returns a result with isError.

Exit status: 0 the client disconnected, 4 no daemon, 2 usage, 1 error.`;
