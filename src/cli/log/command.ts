// The words of `ambit log`, and its help.
import type { Command } from "commander";
import type { ControlWorld } from "../control-world.ts";
import type { ExitCode } from "../terminal/exit.ts";
import { type LogOptions, log } from "./log.ts";

/** Adds the command to the program; `end` is told how it has ended. */
export function addLog(program: Command, world: ControlWorld, end: (exit: ExitCode) => void): void {
  program
    .command("log")
    .description("what was decided, for whom, and what became of it")
    .option("--user <name>", "on whose behalf")
    .option("--agent <id>", "by which agent")
    .option("--session <id>", "in which session; shown as a transcript, oldest first")
    .option("--verb <verb>", "asking for what: net.get, proc.exec, ...")
    .option("--code <code>", "with which code: scope_violation, budget_exhausted, ...")
    .option("--kind <kind>", "decision, outcome, approval, delegation, session, alarm, control, ...")
    .option("--outcome <word>", "allow, deny, approved, revoked, ...")
    .option("--since <time>", "not before: 30m, 2h, 7d, 2026-11-15, 2026-11-15T10:00Z")
    .option("--until <time>", "before, in the same words")
    .option("--text <words>", "words that stand anywhere in the entry")
    .option("--count <number>", "at most so many, the newest; 50 unless told")
    .option("-f, --follow", "go on with everything new that fits", false)
    .option("--json", "one object a line", false)
    .addHelpText("after", EXAMPLES)
    .action(async (options: LogOptions) => end(await log(world, options)));
}

const EXAMPLES = `
Examples:
  ambit log
  ambit log --agent scout --outcome deny --since 2h
  ambit log --verb net.post --user ann --json
  ambit log --session s_be1f0c2d7k4x9w2m   the whole session, call by call
  ambit log --code scope_violation --follow

Times are shown and read as UTC. The id at the end of a line is for \`ambit why\`.

Exit status: 0 shown, also where nothing fits; 4 the daemon is not there or went away; 2 usage; 1 error.`;
