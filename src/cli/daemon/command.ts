// The words of `ambit daemon`, and its help.
import type { Command } from "commander";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { type DaemonWorld, daemonLogs, daemonStart, daemonStatus, daemonStop, logLinesDefault } from "./daemon.ts";

interface Asked {
  readonly json: boolean;
}

/** Adds the commands to the program; `end` is told how the one that ran has ended. */
export function addDaemon(program: Command, world: DaemonWorld, end: (exit: ExitCode) => void): void {
  const daemon = program.command("daemon").description("the process that owns the state: see it, start it, end it");
  daemon
    .command("status")
    .description("whether it runs, its sessions, what waits for a person, its problems")
    .option("--json", "one object instead of lines", false)
    .action(async (options: Asked) => end(await daemonStatus(world, options)));
  daemon
    .command("start")
    .description("start it now; for a state folder named by XDG_STATE_HOME, let it start from then on")
    .option("--json", "one object instead of lines", false)
    .action(async (options: Asked) => end(await daemonStart(world, options)));
  daemon
    .command("stop")
    .description("end it in order, and wait until it is gone")
    .option("--json", "one object instead of lines", false)
    .action(async (options: Asked) => end(await daemonStop(world, options)));
  daemon
    .command("logs")
    .description("the last lines it wrote down about itself")
    .option("--lines <count>", "how many", String(logLinesDefault))
    .option("--json", "one object instead of lines", false)
    .action((options: Asked & { readonly lines: string }) => {
      if (/^[1-9]\d{0,4}$/.test(options.lines)) return end(daemonLogs(world, Number(options.lines), options));
      world.printError("error: --lines is a number from 1 to 99999");
      return end(EXIT.usage);
    });
  for (const one of [daemon, ...daemon.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit daemon status
  ambit daemon logs --lines 200
  ambit daemon stop

Exit status: 0 done, 4 it is not there or does not take this from us, 1 error, 2 usage.`;
