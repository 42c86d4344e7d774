// The words of `ambit agents`, and its help.
import type { Command } from "commander";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { fail } from "../terminal/problems.ts";
import { type AgentOptions, type AgentsListOptions, agentsCapabilities, agentsList, agentsShow } from "./agents.ts";
import { agentsGrant, agentsGrantFrom, agentsRevoke, type EditOptions, type GrantOptions } from "./edit.ts";
import { agentsDelete, agentsNew, agentsRename, agentsUndo, type NewOptions } from "./files.ts";
import { agentsKeep, type KeepOptions } from "./keep.ts";
import { type LinkOptions, revokeLink } from "./links.ts";
import type { AgentsPorts } from "./ports.ts";
import { agentsTree, type TreeOptions } from "./tree.ts";

/** Adds the commands to the program; `end` is told how the one that ran has ended. Those that ask a person wait. */
export function addAgents(program: Command, ports: AgentsPorts, end: (exit: ExitCode) => void): void {
  const agents = program.command("agents").description("list agents and show or change their grants");
  agents.addHelpText("after", EXAMPLES);
  const looking = (name: string, words: string): Command =>
    agents.command(name).description(words).option("--json", "print one JSON object", false);
  const editing = (name: string, words: string): Command =>
    looking(name, words)
      .option("-y, --yes", "do not ask for confirmation", false)
      .option("--dry-run", "show the change without writing it", false);
  looking("list", "list agents")
    .option("--can <spec>", "only agents whose grants cover this one")
    .action((options: AgentsListOptions) => end(agentsList(ports, options)));
  looking("show", "show one agent: record, tests and grants")
    .argument("<agent>", AGENT)
    .option("--user <name>", FOR_USER)
    .action(async (name: string, options: AgentOptions) => end(await agentsShow(ports, name, options)));
  looking("capabilities", "show the grants of one agent, sorted by risk")
    .alias("caps")
    .argument("<agent>", AGENT)
    .option("--user <name>", FOR_USER)
    .action(async (name: string, options: AgentOptions) => end(await agentsCapabilities(ports, name, options)));
  looking("tree", "show agents by folder: the current grants of each, what it may delegate, and the delegations")
    .option("--all", "also show the delegations of other workspaces", false)
    .action(async (options: TreeOptions) => end(await agentsTree(ports, options)));
  editing("new", "create an agent; never overwrites an existing one")
    .argument("<id>", "such as scout or team/scout")
    .option("--extends <preset>", "a preset: reader, reviewer, coder or researcher")
    .option("--from <path>", "import a personality: a folder with toolset.yaml and config.yaml, or one of them")
    .action(async (id: string, options: NewOptions) => end(await agentsNew(ports, id, options)));
  editing("grant", "add a grant to an agent; without a spec, choose one interactively")
    .argument("[agent]", AGENT)
    .argument("[spec]", "such as 'net.get{hosts=[api.github.com]}'")
    .option("--from <denial>", "add the smallest grant that covers a denied call: an id from a denial or the log")
    .option("--for <time>", "expire the grant after this time: 30m, 2h, 7d")
    .option("--uses <count>", "limit the grant to this many calls")
    .option("--write", "only write it into the record: it has no effect until `ambit trust`", false)
    .addHelpText("after", GRANT_EXAMPLES)
    .action(async (name: string | undefined, spec: string | undefined, options: GrantOptions) => {
      if (options.from !== undefined) end(await agentsGrantFrom(ports, name, options.from, options));
      else if (name === undefined) end(fail(ports, options, EXIT.usage, "no agent named", "ambit agents grant scout"));
      else end(await agentsGrant(ports, name, spec, options));
    });
  editing("keep", "write an agent that another agent created as a record, with its current grants")
    .argument("<agent>", "its id")
    .option("--user <name>", "the agent that was created for this user")
    .addHelpText("after", KEEP_EXAMPLES)
    .action(async (name: string, options: KeepOptions) => end(await agentsKeep(ports, name, options)));
  editing("revoke", "remove a scope, every grant of a verb, or a delegation")
    .argument("[agent]", AGENT)
    .argument("[spec]", "a verb, or a verb with a scope")
    .option("--link <id>", "revoke a delegation shown by `ambit agents tree`, and those derived from it")
    .option("--kill", "with --link: kill the programs of the receiving agents", false)
    .addHelpText("after", REVOKE_EXAMPLES)
    .action(async (name: string | undefined, spec: string | undefined, options: EditOptions & LinkOptions) => {
      if (options.link !== undefined) end(await revokeLink(ports, options.link, options));
      else if (name === undefined || spec === undefined)
        end(
          fail(
            ports,
            options,
            EXIT.usage,
            "revoke needs an agent and a spec, or --link",
            "ambit agents revoke scout net.get",
          ),
        );
      else end(await agentsRevoke(ports, name, spec, options));
    });
  editing("undo", "undo the last edit of an agent")
    .argument("<agent>", AGENT)
    .action(async (name: string, options: EditOptions) => end(await agentsUndo(ports, name, options)));
  editing("rename", "change the id of an agent")
    .argument("<agent>", AGENT)
    .argument("<id>", "the new id")
    .action(async (name: string, id: string, options: EditOptions) =>
      end(await agentsRename(ports, name, id, options)),
    );
  editing("delete", "delete an agent's record; `agents undo` restores it")
    .argument("<agent>", AGENT)
    .action(async (name: string, options: EditOptions) => end(await agentsDelete(ports, name, options)));
}

const AGENT = "an id in .ambit/agents, or a record file";
const FOR_USER = "its grants in a session for this user";

const EXAMPLES = `
Examples:
  ambit agents list --can 'net.get{hosts=[*.github.com]}'
  ambit agents new scout --extends reader
  ambit agents capabilities scout
  ambit agents grant scout 'net.get{hosts=[api.github.com]}' --for 30m
  ambit agents revoke scout net.get
  ambit agents undo scout`;

const GRANT_EXAMPLES = `
Examples:
  ambit agents grant scout
  ambit agents grant --from c_7p3p5pag2p
  ambit agents grant scout 'fs.read{paths=[docs/**]}' --dry-run
  ambit agents grant scout 'net.post{hosts=[api.github.com],ask}' --uses 5 --yes
  ambit agents grant scout 'fs.write{paths=[docs/**]}' --write --yes      for a review: ambit trust shows it

A grant that you confirm is trusted immediately; with --write it has no effect until \`ambit trust\`.

Exit status: 0 done or already granted, 1 refused or declined, 2 usage or no terminal, 3 the record is not valid.`;

const KEEP_EXAMPLES = `
Examples:
  ambit agents tree                  shows which agents were created by agents
  ambit agents keep helper           from then on it has a record, and does not end with its creator

An agent whose grants have a budget cannot be kept: its record would start a new budget.

Exit status: 0 done, 1 refused or declined, 2 usage or no terminal, 4 the daemon is not running.`;

const REVOKE_EXAMPLES = `
Examples:
  ambit agents revoke scout net.get
  ambit agents revoke scout 'net.get{hosts=[api.github.com]}'
  ambit agents revoke scout 'proc.exec{ask}'

An omitted key matches every value. Grants cannot express "all but": revoking a part of a wildcard is refused, and
the message names the grant in the way.

Exit status: 0 done or not granted, 1 refused or declined, 2 usage or no terminal, 3 the record is not valid.`;
