// The words of `ambit tools`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
import { type ToolsListOptions, type ToolsListPorts, toolsList } from "./list.ts";
import { toolsShow } from "./show.ts";
import { type ToolsPorts, toolsLint } from "./tools.ts";

/** Adds the commands to the program; `end` is told how the one that ran has ended. `listing`: who can ask the daemon. */
export function addTools(
  program: Command,
  ports: ToolsPorts,
  end: (exit: ExitCode) => void,
  listing: ToolsListPorts | null = null,
): void {
  const tools = program.command("tools").description("list, show and lint the tools of this workspace");
  tools
    .command("lint")
    .description("find direct use of files, network, processes and the like that should go through the context")
    .argument("[paths...]", "files and folders; default: .ambit/tools")
    .option("--json", "print one JSON object", false)
    .action((paths: string[], options: JsonOption) => end(toolsLint(ports, paths, options)));
  if (listing !== null)
    tools
      .command("show")
      .description("show one tool: what it does, its input, and an example call")
      .argument("<tool>", "the name of a tool")
      .option("--json", "print one JSON object", false)
      .action(async (name: string, options: JsonOption) => end(await toolsShow(listing, name, options)));
  if (listing !== null)
    tools
      .command("list")
      .description("list every tool with its source, declaration, and whether it can run")
      .option("--agent <id>", "only tools that this agent's record can allow")
      .option("--json", "print one JSON object", false)
      .action(async (options: ToolsListOptions) => end(await toolsList(listing, options)));
  for (const one of [tools, ...tools.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit tools list --agent scout
  ambit tools show fs_read
  ambit tools lint
  ambit tools lint .ambit/tools/weather.ts --json

\`lint\` reads the source text and does not track values. It helps authors and enforces nothing: the sandbox confines a tool.

Exit status: 0 clean or listed, 1 findings or an unreadable file, 4 no daemon, 2 usage.`;
