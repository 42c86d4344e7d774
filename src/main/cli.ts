// The program `ambit`: connects the command line to this machine and exits with its code. The starter in `bin` calls
// `start`.
import { dirname } from "node:path";
import { run } from "../cli/program.ts";
import { EXIT, type ExitCode } from "../cli/terminal/exit.ts";
import { isTerminal, Output } from "../cli/terminal/output.ts";
import { promptTerminal } from "../cli/terminal/prompts.ts";
import { composePorts } from "./compose.ts";

/** Runs any command. Every error ends here. */
export async function start(argv: readonly string[]): Promise<void> {
  // The exit code is an error until a command has completed: a prompt left unanswered must not exit with 0.
  process.exitCode = EXIT.error;
  const output = new Output();
  try {
    process.exitCode = await command(argv, output);
    if (output.hasFailed) {
      output.write(2, "error: could not write output: no space left on device\n");
      process.exitCode = EXIT.error;
    }
  } catch (error) {
    if (isGone(error)) {
      output.write(2, "error: the working directory no longer exists\n  fix: cd to an existing folder\n");
      return;
    }
    // A bug of ours, not of the user's. Node would print the whole bundle, which is one line.
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    output.write(2, `error: this is a mistake in ambit, please report it\n${what.slice(0, 4000)}\n`);
  }
}

async function command(argv: readonly string[], output: Output): Promise<ExitCode> {
  const ports = composePorts({
    cwd: process.cwd(),
    now: Date.now(),
    colour: process.env["NO_COLOR"] === undefined && (process.env["FORCE_COLOR"] === "1" || isTerminal(1)),
    environment: process.env,
    program: dirname(__dirname),
    terminal: promptTerminal(isTerminal(0) && isTerminal(1)),
    print: (text) => output.write(1, `${text}\n`),
    printError: (text) => output.write(2, `${text}\n`),
  });
  return run(argv, ports);
}

/** Node's error for a working directory that no longer exists. */
function isGone(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}
