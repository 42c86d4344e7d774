// The words of `ambit log`, and its help.
import type { Command } from "commander";
import type { ControlPorts } from "../control-ports.ts";
import type { ExitCode } from "../terminal/exit.ts";
import { type LogOptions, log } from "./log.ts";

/** Adds the command to the program; `end` is told how it has ended. */
export function addLog(program: Command, ports: ControlPorts, end: (exit: ExitCode) => void): void {
  program
    .command("log")
    .description("show decisions and their outcomes")
    .option("--user <name>", "only entries of this user")
    .option("--agent <id>", "only entries of this agent")
    .option("--workspace <folder>", "only entries of the workspace of this folder")
    .option("--session <id>", "only this session, as a transcript, oldest first")
    .option("--verb <verb>", "only this verb: net.get, proc.exec, ...")
    .option("--code <code>", "only this code: scope_violation, budget_exhausted, ...")
    .option(
      "--kind <kind>",
      "only this kind: decision, outcome, approval, delegation, session, secret, alarm, control, suppressed, daemon",
    )
    .option("--outcome <word>", "only this outcome: allow, deny, approved, revoked, ...")
    .option("--would-deny", "only calls that shadow mode left to their client, and that the record denies")
    .option("--refused", "each refused request once, with the smallest grant that would allow it")
    .option("--since <time>", "only entries since: 30m, 2h, 7d, 2026-11-15, 2026-11-15T10:00Z")
    .option("--until <time>", "only entries before this time, in the same form")
    .option("--text <words>", "only entries that contain these words")
    .option("--count <number>", "at most this many, newest first; default: 50")
    .option("-f, --follow", "keep printing new matching entries", false)
    .option("--json", "print one JSON object a line", false)
    .addHelpText("after", EXAMPLES)
    .action(async (options: LogOptions) => end(await log(ports, options)));
}

const EXAMPLES = `
Examples:
  ambit log
  ambit log --agent scout --outcome deny --since 2h
  ambit log --verb net.post --user ann --json
  ambit log --workspace .                  only this project
  ambit log --session s_be1f0c2d7k4x9w2m   the whole session, call by call
  ambit log --code scope_violation --follow
  ambit log --refused --agent scout        what it asked for and did not get
  ambit log --would-deny --since 7d        what enforcing would have blocked

Times are local, with their zone; \`--since\` and \`--until\` take local times too, or one with a zone. Pass the id at the end of a line to \`ambit why\`.

Exit status: 0 shown, even if no entry matches; 4 the daemon is not running or exited; 2 usage; 1 error.`;
