// The program `ambit`: joins the command line to this machine and ends with its exit code.
import { composeWorld } from "../compose.ts";
import { can } from "./can.ts";
import type { ExitCode } from "./exit.ts";
import { isTerminal, writeText } from "./output.ts";
import { run } from "./program.ts";
import { promptTerminal } from "./prompts.ts";
import { quickCan } from "./quick.ts";

async function main(argv: readonly string[]): Promise<ExitCode> {
  const world = composeWorld({
    cwd: process.cwd(),
    now: Date.now(),
    colour: process.env["NO_COLOR"] === undefined && (process.env["FORCE_COLOR"] === "1" || isTerminal(1)),
    environment: process.env,
    terminal: promptTerminal(isTerminal(0) && isTerminal(1)),
    print: (text) => writeText(1, `${text}\n`),
    printError: (text) => writeText(2, `${text}\n`),
  });
  const quick = quickCan(argv);
  return quick === null ? run(argv, world) : can(world, quick.agent, quick.words, { json: quick.json });
}

// Until a command has ended well it has not: a question that nobody answers must not end in 0.
process.exitCode = 1;
main(process.argv.slice(2)).then(
  (exit) => {
    process.exitCode = exit;
  },
  (error: unknown) => {
    // Ours, not the user's. Node would show the whole bundle, which is one line.
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    writeText(2, `error: this is a mistake in ambit, please report it\n${what.slice(0, 4000)}\n`);
  },
);
