// The words of `ambit why`, and its help.
import type { Command } from "commander";
import type { ControlWorld } from "../control-world.ts";
import type { ExitCode } from "../terminal/exit.ts";
import type { Asked } from "../terminal/problems.ts";
import { lastDenial, why } from "./why.ts";

/** Adds the command to the program; `end` is told how it has ended. */
export function addWhy(program: Command, world: ControlWorld, end: (exit: ExitCode) => void): void {
  program
    .command("why")
    .description("why a call was allowed or denied, by which line, and what became of it")
    .argument(
      "[id]",
      "without it, the last denial; of a decision, an approval or a delegation, or an unambiguous beginning of it",
    )
    .option("--json", "one object instead of lines", false)
    .addHelpText("after", EXAMPLES)
    .action(async (id: string | undefined, options: Asked) => {
      const last = id ?? (await lastDenial(world, options));
      end(typeof last === "string" ? await why(world, last, options) : last);
    });
}

const EXAMPLES = `
Examples:
  ambit why                           the last denial
  ambit why c_3n9ixcs7rqbtyb
  ambit why c_3n9ixc                  a beginning is enough
  ambit why c_3n9ixcs7rqbtyb --json

The ids stand at the end of the lines of \`ambit log\`, and in every denial.

Exit status: 0 explained, 1 there is no such entry, 4 the daemon is not there, 2 usage.`;
