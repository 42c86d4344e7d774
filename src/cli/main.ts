// The program `ambit`: joins the command line to this machine and ends with its exit code. The starter in `bin` calls
// one of two: `answer` in the short program, which holds what a plain `can` needs, and `start` in the whole one.
import { dirname } from "node:path";
import { type AskingMachine, composeCan, composeWorld } from "../compose.ts";
import { can } from "./can.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { isTerminal, Output } from "./output.ts";
import { run } from "./program.ts";
import { promptTerminal } from "./prompts.ts";
import { quickCan } from "./quick.ts";

/** A plain `can`, worked out and ready to be said; null for every other command. Nothing is said or changed before. */
export function answer(argv: readonly string[]): (() => void) | null {
  const quick = quickCan(argv);
  if (quick === null) return null;
  const said: (readonly [1 | 2, string])[] = [];
  const world = composeCan(machineOf((descriptor, text) => said.push([descriptor, text])));
  const exit = can(world, quick.agent, quick.words, { json: quick.json });
  return () => {
    const output = new Output();
    for (const [descriptor, text] of said) output.write(descriptor, text);
    process.exitCode = exit;
    // Taking the machine down in order costs more than leaving it to the kernel.
    if (!output.isWaiting) process.exit();
  };
}

/** Any command. Whatever goes wrong ends here. */
export async function start(argv: readonly string[]): Promise<void> {
  // Until a command has ended well it has not: a question that nobody answers must not end in 0.
  process.exitCode = EXIT.error;
  const output = new Output();
  try {
    process.exitCode = await command(argv, output);
    if (output.hasFailed) {
      output.write(2, "error: what was to be written could not be: the disk is full\n");
      process.exitCode = EXIT.error;
    }
  } catch (error) {
    if (isGone(error)) {
      output.write(2, "error: the working directory does not exist any more\n  fix: cd to a folder that does\n");
      return;
    }
    // Ours, not the user's. Node would show the whole bundle, which is one line.
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    output.write(2, `error: this is a mistake in ambit, please report it\n${what.slice(0, 4000)}\n`);
  }
}

async function command(argv: readonly string[], output: Output): Promise<ExitCode> {
  const machine = machineOf((descriptor, text) => output.write(descriptor, text));
  const quick = quickCan(argv);
  if (quick !== null) return can(composeCan(machine), quick.agent, quick.words, { json: quick.json });
  return run(argv, composeWorld({ ...machine, terminal: promptTerminal(isTerminal(0) && isTerminal(1)) }));
}

/** Node's own way of saying that there is no working directory. */
function isGone(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}

function machineOf(write: (descriptor: 1 | 2, text: string) => void): AskingMachine {
  return {
    cwd: process.cwd(),
    now: Date.now(),
    colour: process.env["NO_COLOR"] === undefined && (process.env["FORCE_COLOR"] === "1" || isTerminal(1)),
    environment: process.env,
    program: dirname(__dirname),
    print: (text) => write(1, `${text}\n`),
    printError: (text) => write(2, `${text}\n`),
  };
}
