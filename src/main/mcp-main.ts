// The program behind `ambit mcp`: a short command line of its own, so that nothing else is loaded while a client waits.
// The starter in `bin` calls `start`.
import { dirname } from "node:path";
import { Command, CommanderError } from "commander";
import { addMcp } from "../cli/mcp/command.ts";
import { serve } from "../cli/mcp/mcp.ts";
import { EXIT, type ExitCode } from "../cli/terminal/exit.ts";
import { isTerminal, Output } from "../cli/terminal/output.ts";
import { VERSION } from "../core/base/version.ts";
import { composeMcp } from "./mcp-serve.ts";

const farewellMillisecondsMax = 5_000;

export async function start(argv: readonly string[]): Promise<void> {
  process.exitCode = EXIT.error;
  const output = new Output();
  const printError = (text: string): void => output.write(2, `${text}\n`);
  try {
    process.exitCode = await command(argv, output, printError);
  } catch (error) {
    // A bug of ours, not of the user's. Node would print the whole bundle, which is one line.
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    printError(`error: this is a mistake in ambit, please report it\n${what.slice(0, 4000)}`);
  }
  // Open handles do not delay the exit; pending output has been read by now, or has no reader.
  setTimeout(() => process.exit(), farewellMillisecondsMax).unref();
  process.stdout.write("", () => process.exit());
}

async function command(argv: readonly string[], output: Output, printError: (text: string) => void): Promise<ExitCode> {
  let exit: ExitCode = EXIT.ok;
  const ports = composeMcp({
    cwd: process.cwd(),
    colour: process.env["NO_COLOR"] === undefined && isTerminal(2),
    environment: process.env,
    program: dirname(__dirname),
    printError,
  });
  const program = new Command("ambit")
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.write(1, text),
      writeErr: (text) => output.write(2, text),
    })
    .showSuggestionAfterError(true);
  addMcp(
    program,
    (options) => serve(ports, options),
    (code) => {
      exit = code;
    },
  );
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  return exit;
}
