// The words of `ambit why`, and its help.
import type { Command } from "commander";
import type { ControlPorts } from "../control-ports.ts";
import type { ExitCode } from "../terminal/exit.ts";
import { lastDenial, type WhyOptions, why } from "./why.ts";

/** Adds the command to the program; `end` is told how it has ended. */
export function addWhy(program: Command, ports: ControlPorts, end: (exit: ExitCode) => void): void {
  program
    .command("why")
    .description("explain why a call was allowed or denied, by which line, and its outcome")
    .argument(
      "[id]",
      "a decision, an approval or a delegation: its id or an unambiguous prefix; default: the last denial",
    )
    .option("--workspace <folder>", "without an id: the last denial in the workspace of this folder")
    .option("--json", "print one JSON object", false)
    .addHelpText("after", EXAMPLES)
    .action(async (id: string | undefined, options: WhyOptions) => {
      const last = id ?? (await lastDenial(ports, options));
      end(typeof last === "string" ? await why(ports, last, options) : last);
    });
}

const EXAMPLES = `
Examples:
  ambit why                           the last denial
  ambit why --workspace .             the last denial in this project
  ambit why c_3n9ixcs7rqbtyb
  ambit why c_3n9ixc                  a prefix is enough
  ambit why c_3n9ixcs7rqbtyb --json

\`ambit log\` shows the ids at the end of its lines; every denial contains one.

Exit status: 0 explained, 1 no such entry, 4 the daemon is not running, 2 usage.`;
