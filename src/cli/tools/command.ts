// The words of `ambit tools`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { Asked } from "../terminal/problems.ts";
import { type ToolsListOptions, type ToolsListWorld, toolsList } from "./list.ts";
import { type ToolsWorld, toolsLint } from "./tools.ts";

/** Adds the commands to the program; `end` is told how the one that ran has ended. `listing`: who can ask the daemon. */
export function addTools(
  program: Command,
  world: ToolsWorld,
  end: (exit: ExitCode) => void,
  listing: ToolsListWorld | null = null,
): void {
  const tools = program.command("tools").description("tools of this workspace");
  tools
    .command("lint")
    .description("find authority that tools take by themselves instead of asking their context")
    .argument("[paths...]", "files and folders; .ambit/tools if none is named")
    .option("--json", "one object instead of lines", false)
    .action((paths: string[], options: Asked) => end(toolsLint(world, paths, options)));
  if (listing !== null)
    tools
      .command("list")
      .description("every tool there is here: where it comes from, what it declares, whether it can run")
      .option("--agent <id>", "only what this agent's record can ever allow")
      .option("--json", "one object instead of lines", false)
      .action(async (options: ToolsListOptions) => end(await toolsList(listing, options)));
  for (const one of [tools, ...tools.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit tools list --agent scout
  ambit tools lint
  ambit tools lint .ambit/tools/weather.ts --json

\`lint\` reads the text of a tool and follows no values around: it helps an author, and holds nobody. What holds a tool is
the sandbox it runs in.

Exit status: 0 clean or listed, 1 something was found or could not be read, 4 no daemon, 2 usage.`;
