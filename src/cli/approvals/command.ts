// The words of `ambit approvals`, `approve` and `presence`, and their help.
import type { Command } from "commander";
import type { ControlPorts } from "../control-ports.ts";
import type { ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
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
import { approveForGood, type ForGoodPorts } from "./for-good.ts";
import {
  type PresenceDeleteOptions,
  type PresenceOptions,
  presenceDelete,
  presenceList,
  presenceSet,
} from "./presence.ts";
import { approvalsWatch, type WatchPorts } from "./watch.ts";

type End = (exit: ExitCode) => void;

const JSON_OPTION = ["--json", "print one JSON object", false] as const;

/** Adds the commands to the program; `end` is told how the one that ran has ended. */
export function addApprovals(program: Command, ports: WatchPorts, end: End, org: ForGoodPorts | null = null): void {
  const approvals = program.command("approvals").description("list, approve and refuse requests of agents");
  approvals
    .command("list")
    .description("list pending, approved and interrupted approvals")
    .option("--all", "also list closed approvals", false)
    .option("--state <states>", "only these states, comma-separated: pending, approved, refused, expired, ...")
    .option("--count <number>", "list at most this many", "100")
    .option(...JSON_OPTION)
    .action(async (options: ListOptions) => end(await approvalsList(ports, options)));
  approvals
    .command("show")
    .description("show the agent, the full call, its risk, and the scopes an approval can have")
    .argument("<id>")
    .option("--full", "do not shorten long values", false)
    .option(...JSON_OPTION)
    .action(async (id: string, options: ShowOptions) => end(await approvalsShow(ports, id, options)));
  addApprove(approvals, ports, end, org);
  approvals
    .command("refuse")
    .description("refuse a request, or withdraw an approval that is not used up")
    .argument("<id>")
    .option("--reason <text>", "the reason shown to the agent")
    .option(...JSON_OPTION)
    .action(async (id: string, options: RefuseOptions) => end(await approvalsRefuse(ports, id, options)));
  approvals
    .command("reopen")
    .description("withdraw a refusal; the request is pending again")
    .argument("<id>")
    .option("--presence <name>", "confirm as this person; asks for the passphrase")
    .option(...JSON_OPTION)
    .action(async (id: string, options: ReopenOptions) => end(await approvalsReopen(ports, id, options)));
  approvals
    .command("watch")
    .description("show requests as they arrive and answer them with a key")
    .option("--json", "print one JSON object a line for every change", false)
    .action(async (options: JsonOption) => end(await approvalsWatch(ports, options)));
  addApprove(program, ports, end, org);
  for (const one of [approvals, ...approvals.commands]) one.addHelpText("after", EXAMPLES);
}

function addApprove(program: Command, ports: ControlPorts, end: End, org: ForGoodPorts | null): void {
  program
    .command("approve")
    .description("approve a request: this exact call, or a wider scope")
    .argument("[id]", "a pending approval; default: the only one pending")
    .option("--step <name>", "the scope: name or number of a step that `approvals show` lists")
    .option("--uses <number>", "how many calls it covers; default: 1")
    .option("--for <time>", "how long it is valid, such as 30m or 2h; default: 30m")
    .option(
      "--for-good",
      "write `allow` into the org file for what a parked task waits for, after showing the edit",
      false,
    )
    .option("--presence <name>", "confirm as this person; asks for the passphrase")
    .option("--yes", "do not ask for confirmation; without --step, approve this exact call", false)
    .option(...JSON_OPTION)
    .addHelpText("after", EXAMPLES)
    .action(async (id: string | undefined, options: ApproveOptions) => {
      const only = id ?? (await onlyWaiting(ports, options));
      if (typeof only !== "string") end(only);
      else if (options.forGood && org !== null) end(await approveForGood(org, only, options));
      else end(await approve(ports, only, options));
    });
}

export function addPresence(program: Command, ports: ControlPorts, end: End): void {
  const presence = program.command("presence").description("manage passphrases that confirm a person is present");
  presence
    .command("set")
    .description("set or change a person's passphrase")
    .argument("<name>")
    .option("--presence <name>", "confirm as this person, if presence is required")
    .option(...JSON_OPTION)
    .action(async (name: string, options: PresenceOptions) => end(await presenceSet(ports, name, options)));
  presence
    .command("list")
    .description("list people who have a passphrase")
    .option(...JSON_OPTION)
    .action(async (options: JsonOption) => end(await presenceList(ports, options)));
  presence
    .command("delete")
    .description("delete a person's passphrase")
    .argument("<name>")
    .option("--presence <name>", "confirm as this person, if presence is required")
    .option("--yes", "do not ask for confirmation", false)
    .option(...JSON_OPTION)
    .action(async (name: string, options: PresenceDeleteOptions) => end(await presenceDelete(ports, name, options)));
  for (const one of [presence, ...presence.commands]) one.addHelpText("after", PRESENCE_EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit approvals watch
  ambit approvals show a_vf2pitc3drwn24z5
  ambit approve a_vf2pitc3drwn24z5                                   shows it and asks for confirmation
  ambit approve a_vf2pitc3drwn24z5 --step command --uses 5 --for 30m
  ambit approve a_vf2pitc3drwn24z5 --yes                             for scripts: exactly this call, once
  ambit approvals refuse a_vf2pitc3drwn24z5 --reason "use the staging host"
  ambit approvals reopen a_vf2pitc3drwn24z5                          withdraws the refusal

Exit status: 0 done, 11 not approved or more approvers needed, 12 expired, 1 error, 2 usage, 4 the daemon is not running
or refused the connection.`;

const PRESENCE_EXAMPLES = `
Examples:
  ambit presence set ann       asks for the passphrase twice
  ambit presence list

Exit status: 0 done, 11 nothing changed, 1 error, 2 usage, 4 the daemon is not running or refused the connection.`;
