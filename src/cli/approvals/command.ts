// The words of `ambit approvals`, `approve` and `presence`, and their help.
import type { Command } from "commander";
import type { ControlWorld } from "../control-world.ts";
import type { ExitCode } from "../terminal/exit.ts";
import type { Asked } from "../terminal/problems.ts";
import {
  approvalsList,
  approvalsRefuse,
  approvalsReopen,
  approvalsShow,
  type ListOptions,
  type RefuseOptions,
  type ReopenOptions,
  type ShowOptions,
} from "./approvals.ts";
import { type ApproveOptions, approve, onlyWaiting } from "./approve.ts";
import {
  type PresenceDeleteOptions,
  type PresenceOptions,
  presenceDelete,
  presenceList,
  presenceSet,
} from "./presence.ts";
import { approvalsWatch, type WatchWorld } from "./watch.ts";

type End = (exit: ExitCode) => void;

const JSON_OPTION = ["--json", "one object instead of lines", false] as const;

/** Adds the commands to the program; `end` is told how the one that ran has ended. */
export function addApprovals(program: Command, world: WatchWorld, end: End): void {
  const approvals = program.command("approvals").description("what agents ask of a person, and the answers");
  approvals
    .command("list")
    .description("what waits, what was agreed to, and what nobody knows the end of")
    .option("--all", "also what is over", false)
    .option("--state <states>", "only these, split at commas: pending, approved, refused, expired, ...")
    .option("--count <number>", "at most so many", "100")
    .option(...JSON_OPTION)
    .action(async (options: ListOptions) => end(await approvalsList(world, options)));
  approvals
    .command("show")
    .description("who asks, the whole call, its risk, and how far an answer may reach")
    .argument("<id>")
    .option("--full", "long values in full, too", false)
    .option(...JSON_OPTION)
    .action(async (id: string, options: ShowOptions) => end(await approvalsShow(world, id, options)));
  addApprove(approvals, world, end);
  approvals
    .command("refuse")
    .description("say no, or take back a yes that is not used up")
    .argument("<id>")
    .option("--reason <text>", "what the agent is told")
    .option(...JSON_OPTION)
    .action(async (id: string, options: RefuseOptions) => end(await approvalsRefuse(world, id, options)));
  approvals
    .command("reopen")
    .description("take a refusal back: the question waits for an answer again")
    .argument("<id>")
    .option("--presence <name>", "as whom; the passphrase is asked for")
    .option(...JSON_OPTION)
    .action(async (id: string, options: ReopenOptions) => end(await approvalsReopen(world, id, options)));
  approvals
    .command("watch")
    .description("questions as they come, to be answered with a key")
    .option("--json", "one object a line for every change", false)
    .action(async (options: Asked) => end(await approvalsWatch(world, options)));
  addApprove(program, world, end);
  for (const one of [approvals, ...approvals.commands]) one.addHelpText("after", EXAMPLES);
}

function addApprove(program: Command, world: ControlWorld, end: End): void {
  program
    .command("approve")
    .description("say yes to what an agent asks: exactly this, or as far as you choose")
    .argument("[id]", "of what waits; without it, the only one that does")
    .option("--step <name>", "how far: a step of the ladder that show prints, by its name or number")
    .option("--uses <number>", "how often; once without it")
    .option("--for <time>", "how long, such as 30m or 2h; 30m without it")
    .option("--presence <name>", "as whom; the passphrase is asked for")
    .option("--yes", "skip the question, nothing else; exactly this call without --step", false)
    .option(...JSON_OPTION)
    .addHelpText("after", EXAMPLES)
    .action(async (id: string | undefined, options: ApproveOptions) => {
      const only = id ?? (await onlyWaiting(world, options));
      end(typeof only === "string" ? await approve(world, only, options) : only);
    });
}

export function addPresence(program: Command, world: ControlWorld, end: End): void {
  const presence = program.command("presence").description("passphrases people prove with that they are there");
  presence
    .command("set")
    .description("set or change a person's passphrase")
    .argument("<name>")
    .option("--presence <name>", "who vouches for it, where somebody has to")
    .option(...JSON_OPTION)
    .action(async (name: string, options: PresenceOptions) => end(await presenceSet(world, name, options)));
  presence
    .command("list")
    .description("who has one")
    .option(...JSON_OPTION)
    .action(async (options: Asked) => end(await presenceList(world, options)));
  presence
    .command("delete")
    .description("delete a person's passphrase")
    .argument("<name>")
    .option("--presence <name>", "who vouches for it, where somebody has to")
    .option("--yes", "skip the question, nothing else", false)
    .option(...JSON_OPTION)
    .action(async (name: string, options: PresenceDeleteOptions) => end(await presenceDelete(world, name, options)));
  for (const one of [presence, ...presence.commands]) one.addHelpText("after", PRESENCE_EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit approvals watch
  ambit approvals show a_vf2pitc3drwn24z5
  ambit approve a_vf2pitc3drwn24z5                                   shows it and asks
  ambit approve a_vf2pitc3drwn24z5 --step command --uses 5 --for 30m
  ambit approve a_vf2pitc3drwn24z5 --yes                             for scripts: exactly this call, once
  ambit approvals refuse a_vf2pitc3drwn24z5 --reason "use the staging host"
  ambit approvals reopen a_vf2pitc3drwn24z5                          takes the refusal back

Exit status: 0 done, 11 nothing was approved or more people have to agree, 12 its time is over, 1 error, 2 usage,
4 the daemon is not there or does not take this from us.`;

const PRESENCE_EXAMPLES = `
Examples:
  ambit presence set ann       asks for the passphrase, twice
  ambit presence list

Exit status: 0 done, 11 nothing was changed, 1 error, 2 usage, 4 the daemon is not there or does not take this from us.`;
