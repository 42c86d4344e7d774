// `ambit agents keep`: writes an agent that another agent made as a record, with what it holds now.
import { readGrantSpec } from "../../agents/edit/edit-spec.ts";
import { isCounted } from "../../core/authority/grant.ts";
import { agentIdOf } from "../../core/base/agent-id.ts";
import type { HeldChainView } from "../../core/ports/daemon/holding-view.ts";
import type { CreatedAgent, StoredLink } from "../../core/ports/stores/link-store.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { fail } from "../terminal/problems.ts";
import type { EditOptions } from "./edit.ts";
import { createRecord, recordOf } from "./files.ts";
import { holdingNow } from "./holding.ts";
import type { AgentsPorts } from "./ports.ts";

export interface KeepOptions extends EditOptions {
  readonly user?: string;
}

export async function agentsKeep(ports: AgentsPorts, name: string, options: KeepOptions): Promise<ExitCode> {
  const listed = await askOnce(ports, "links.list", {});
  if (!listed.ok) return tellRefusal(ports, listed, options.json);
  const id = agentIdOf(name);
  const all = madeHere(ports, listed.value.made, id);
  // Without a name the one that was made for no user, where there is one.
  const mine = all.filter(({ name: { user } }) => (user ?? null) === (options.user ?? null));
  const [made, other] = options.user === undefined && mine.length === 0 ? all : mine;
  if (ports.agentIds().includes(id))
    return fail(ports, options, EXIT.error, `${id} already has a record`, `ambit agents show ${id}`);
  if (made === undefined)
    return fail(ports, options, EXIT.error, `no agent here created an agent called ${id}`, "ambit agents tree");
  if (other !== undefined)
    return fail(ports, options, EXIT.usage, `several users have an agent ${id}`, `--user ${made.name.user ?? "NAME"}`);
  const held = await holdingNow(ports, { agent: id, user: made.name.user ?? null, pledge: null });
  if (held === null || !held.ok)
    return held === null
      ? fail(ports, options, EXIT.daemon, "the daemon has exited", "ambit daemon start")
      : tellRefusal(ports, held, options.json);
  const chains = held.value.chains.filter(({ fault }) => fault === null);
  const specs = keptSpecs(ports, id, chains, listed.value.links);
  if (typeof specs === "string") return fail(ports, options, EXIT.error, specs, `ambit agents new ${id}`);
  const words = options.user === undefined ? [] : ["--user", options.user];
  return createRecord(
    ports,
    id,
    recordOf(id, specs, made.body),
    { action: "keep", done: `kept ${id}`, words },
    options,
  );
}

function madeHere(ports: AgentsPorts, made: readonly CreatedAgent[], id: string): readonly CreatedAgent[] {
  const workspace = ports.workspaceAt?.() ?? null;
  return made.filter(({ name, ended }) => ended === null && name.workspace === workspace && name.agent === id);
}

/**
 * What counts of it now, with its end; a text says why it cannot be written. INVARIANT: never more than it holds, so nothing with a
 * budget: the record would have one of its own.
 */
function keptSpecs(
  ports: AgentsPorts,
  id: string,
  chains: readonly HeldChainView[],
  links: readonly StoredLink[],
): readonly string[] | string {
  const { reading } = ports.editContext(id);
  const specs = new Set<string>();
  for (const { link, grants, expires, isComplete } of chains) {
    if (!isComplete) return `${id} has more grants than a record can list`;
    if (isLinkCounted(link, links))
      return `the grants of ${id} have a budget, and a record would start it again from zero`;
    for (const { grant, isExpired } of grants) {
      if (isExpired) continue;
      const own = readGrantSpec(grant, NO_LIMITS, { reading, root: null });
      if (!own.ok) return own.message;
      if (isCounted(own.value.grant.conditions))
        return `${grant} has a budget, and a record would start it again from zero`;
      const { expires: end } = own.value.grant.conditions;
      if (end !== null && expires !== null && expires < end) return `${grant} ends before its \`expires\``;
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
