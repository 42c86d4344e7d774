// `ambit agents keep`: writes an agent that another agent made as a record, with what it holds now.
import { readGrantSpec } from "../../agents/edit/edit-spec.ts";
import { isCounted } from "../../core/authority/grant.ts";
import { agentIdOf } from "../../core/base/agent-id.ts";
import type { HeldChainView } from "../../core/ports/daemon/holding-view.ts";
import type { CreatedAgent, StoredLink } from "../../core/ports/stores/link-store.ts";
import { askOnce, tellRefusal } from "../control-world.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { fail } from "../terminal/problems.ts";
import type { EditOptions } from "./edit.ts";
import { createRecord, recordOf } from "./files.ts";
import { holdingNow } from "./holding.ts";
import type { AgentsWorld } from "./world.ts";

export interface KeepOptions extends EditOptions {
  readonly user?: string;
}

export async function agentsKeep(world: AgentsWorld, name: string, options: KeepOptions): Promise<ExitCode> {
  const listed = await askOnce(world, "links.list", {});
  if (!listed.ok) return tellRefusal(world, listed, options.json);
  const id = agentIdOf(name);
  const all = madeHere(world, listed.value.made, id);
  const [made, other] = options.user === undefined ? all : all.filter(({ name: { user } }) => user === options.user);
  if (world.agentIds().includes(id))
    return fail(world, options, EXIT.error, `${id} has a record already`, `ambit agents show ${id}`);
  if (made === undefined)
    return fail(world, options, EXIT.error, `no agent called ${id} was made by an agent here`, "ambit agents tree");
  if (other !== undefined)
    return fail(world, options, EXIT.usage, `several users have an agent ${id}`, `--user ${made.name.user ?? "NAME"}`);
  const held = await holdingNow(world, { agent: id, user: made.name.user ?? null, pledge: null });
  if (held === null || !held.ok)
    return held === null
      ? fail(world, options, EXIT.daemon, "the daemon has ended", "ambit daemon start")
      : tellRefusal(world, held, options.json);
  const chains = held.value.chains.filter(({ fault }) => fault === null);
  const specs = keptSpecs(world, id, chains, listed.value.links);
  if (typeof specs === "string") return fail(world, options, EXIT.error, specs, `ambit agents new ${id}`);
  return createRecord(world, id, recordOf(id, specs, made.body), { action: "keep", done: `kept ${id}` }, options);
}

function madeHere(world: AgentsWorld, made: readonly CreatedAgent[], id: string): readonly CreatedAgent[] {
  const workspace = world.workspaceAt?.() ?? null;
  return made.filter(({ name, ended }) => ended === null && name.workspace === workspace && name.agent === id);
}

/**
 * What counts of it now, with its end; a text says why it cannot be written. INVARIANT: never more than it holds, so nothing with a
 * budget: the record would have one of its own.
 */
function keptSpecs(
  world: AgentsWorld,
  id: string,
  chains: readonly HeldChainView[],
  links: readonly StoredLink[],
): readonly string[] | string {
  const { reading } = world.editGround(id);
  const specs = new Set<string>();
  for (const { link, grants, expires, isComplete } of chains) {
    if (!isComplete) return `${id} holds more than can be written out`;
    if (isLinkCounted(link, links)) return `what ${id} holds has a budget, which a record would count anew`;
    for (const { grant, isExpired } of grants) {
      if (isExpired) continue;
      const own = readGrantSpec(grant, NO_LIMITS, { reading, root: null });
      if (!own.ok) return own.message;
      if (isCounted(own.value.grant.conditions)) return `${grant} has a budget, which a record would count anew`;
      const { expires: end } = own.value.grant.conditions;
      if (end !== null && expires !== null && expires < end) return `${grant} ends before it says`;
      const read = end === null ? readGrantSpec(grant, { expires, calls: null }, { reading, root: null }) : own;
      if (!read.ok) return read.message;
      specs.add(read.value.text);
    }
  }
  return [...specs];
}

const NO_LIMITS = { expires: null, calls: null };

/** The link or one above it covers a limited number of calls. */
function isLinkCounted(id: string | null, links: readonly StoredLink[]): boolean {
  for (let at = id, steps = 0; at !== null && steps < 64; steps++) {
    const link = links.find((one) => one.id === at);
    if (link === undefined) return false;
    if (link.calls !== null) return true;
    at = link.parent;
  }
  return false;
}
