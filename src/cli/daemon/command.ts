// The words of `ambit daemon`, and its help.

import type { Command } from "commander";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
import { type DaemonPorts, daemonLogs, daemonStart, daemonStatus, daemonStop, logLinesDefault } from "./daemon.ts";

/** Adds the commands to the program; `end` is told how the one that ran has ended. */
export function addDaemon(program: Command, ports: DaemonPorts, end: (exit: ExitCode) => void): void {
  const daemon = program.command("daemon").description("show, start or stop the background daemon");
  daemon
    .command("status")
    .description("show whether the daemon runs, its sessions, pending approvals and problems")
    .option("--json", "print one JSON object", false)
    .action(async (options: JsonOption) => end(await daemonStatus(ports, options)));
  daemon
    .command("start")
    .description("start the daemon; for a state folder set by XDG_STATE_HOME, also enable automatic start")
    .option("--json", "print one JSON object", false)
    .action(async (options: JsonOption) => end(await daemonStart(ports, options)));
  daemon
    .command("stop")
    .description("shut the daemon down and wait until it has exited")
    .option("--json", "print one JSON object", false)
    .action(async (options: JsonOption) => end(await daemonStop(ports, options)));
  daemon
    .command("logs")
    .description("show the last lines of the daemon's own log")
    .option("--lines <count>", "how many lines", String(logLinesDefault))
    .option("--json", "print one JSON object", false)
    .action((options: JsonOption & { readonly lines: string }) => {
      if (/^[1-9]\d{0,4}$/.test(options.lines)) return end(daemonLogs(ports, Number(options.lines), options));
      ports.printError("error: --lines must be a number from 1 to 99999");
      return end(EXIT.usage);
    });
  for (const one of [daemon, ...daemon.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit daemon status
  ambit daemon logs --lines 200
  ambit daemon stop

Exit status: 0 done, 4 the daemon is not running or refused the connection, 1 error, 2 usage.`;
