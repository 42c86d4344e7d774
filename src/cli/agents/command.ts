// The words of `ambit agents`, and its help.
import type { Command } from "commander";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { type Asked, fail } from "../terminal/problems.ts";
import { type AgentsListOptions, agentsCapabilities, agentsList, agentsShow } from "./agents.ts";
import { agentsGrant, agentsGrantFrom, agentsRevoke, type EditOptions, type GrantOptions } from "./edit.ts";
import { agentsDelete, agentsNew, agentsRename, agentsUndo, type NewOptions } from "./files.ts";
import { type LinkOptions, revokeLink } from "./links.ts";
import { agentsTree } from "./tree.ts";
import type { AgentsWorld } from "./world.ts";

/** Adds the commands to the program; `end` is told how the one that ran has ended. Those that ask a person wait. */
export function addAgents(program: Command, world: AgentsWorld, end: (exit: ExitCode) => void): void {
  const agents = program.command("agents").description("who there is, what each may do, and changes to that");
  agents.addHelpText("after", EXAMPLES);
  const looking = (name: string, words: string): Command =>
    agents.command(name).description(words).option("--json", "one object instead of lines", false);
  const editing = (name: string, words: string): Command =>
    looking(name, words)
      .option("-y, --yes", "skip the question, and only the question", false)
      .option("--dry-run", "show what would change, and change nothing", false);
  looking("list", "all agents, or those that hold at least a grant")
    .option("--can <spec>", "only agents that hold at least this")
    .action((options: AgentsListOptions) => end(agentsList(world, options)));
  looking("show", "one agent: its record, its tests, what it holds")
    .argument("<agent>", AGENT)
    .action((name: string, options: Asked) => end(agentsShow(world, name, options)));
  looking("capabilities", "what one agent holds, sorted by risk")
    .alias("caps")
    .argument("<agent>", AGENT)
    .action((name: string, options: Asked) => end(agentsCapabilities(world, name, options)));
  looking("tree", "agents by folder, the risk of each, what it may pass on, and what it did pass on").action(
    async (options: Asked) => end(await agentsTree(world, options)),
  );
  editing("new", "write a new agent; never over one that is there")
    .argument("<id>", "such as scout or team/scout")
    .option("--extends <preset>", "reader, reviewer, coder or researcher")
    .action(async (id: string, options: NewOptions) => end(await agentsNew(world, id, options)));
  editing("grant", "give an agent one more capability; without a spec, pick one")
    .argument("[agent]", AGENT)
    .argument("[spec]", "such as 'net.get{hosts=[api.github.com]}'")
    .option(
      "--from <denial>",
      "the smallest grant that would have allowed what was denied: an id from a denial or the log",
    )
    .option("--for <time>", "how long it holds: 30m, 2h, 7d")
    .option("--uses <count>", "how many calls it is good for")
    .addHelpText("after", GRANT_EXAMPLES)
    .action(async (name: string | undefined, spec: string | undefined, options: GrantOptions) => {
      if (options.from !== undefined) end(await agentsGrantFrom(world, name, options.from, options));
      else if (name === undefined) end(fail(world, options, EXIT.usage, "which agent?", "ambit agents grant scout"));
      else end(await agentsGrant(world, name, spec, options));
    });
  editing("revoke", "take away exactly what the spec says, every grant of a verb, or a delegation")
    .argument("[agent]", AGENT)
    .argument("[spec]", "a verb, or a verb with a scope")
    .option("--link <id>", "a delegation from `ambit agents tree`, and everything below it")
    .option("--kill", "with --link: end what its holders run", false)
    .addHelpText("after", REVOKE_EXAMPLES)
    .action(async (name: string | undefined, spec: string | undefined, options: EditOptions & LinkOptions) => {
      if (options.link !== undefined) end(await revokeLink(world, options.link, options));
      else if (name === undefined || spec === undefined)
        end(fail(world, options, EXIT.usage, "an agent and a spec, or --link", "ambit agents revoke scout net.get"));
      else end(await agentsRevoke(world, name, spec, options));
    });
  editing("undo", "take the last edit of an agent back")
    .argument("<agent>", AGENT)
    .action(async (name: string, options: EditOptions) => end(await agentsUndo(world, name, options)));
  editing("rename", "give an agent another id")
    .argument("<agent>", AGENT)
    .argument("<id>", "the new id")
    .action(async (name: string, id: string, options: EditOptions) =>
      end(await agentsRename(world, name, id, options)),
    );
  editing("delete", "remove an agent's record; undo brings it back")
    .argument("<agent>", AGENT)
    .action(async (name: string, options: EditOptions) => end(await agentsDelete(world, name, options)));
}

const AGENT = "an id in .ambit/agents, or a record's file";

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

Exit status: 0 done or held already, 1 refused or declined, 2 usage or nobody to ask, 3 the record is not valid.`;

const REVOKE_EXAMPLES = `
Examples:
  ambit agents revoke scout net.get
  ambit agents revoke scout 'net.get{hosts=[api.github.com]}'
  ambit agents revoke scout 'proc.exec{ask}'

A key that is not written means whatever it is. What cannot be cut out without an "all but" is refused, with the
grant that is in the way.

Exit status: 0 done or not held, 1 refused or declined, 2 usage or nobody to ask, 3 the record is not valid.`;
