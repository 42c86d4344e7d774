// Delegations as people see them: who passed what on to whom, and taking one back.

import type { AgentName, CreatedAgent, StoredLink } from "../../core/ports/stores/link-store.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { JsonOption } from "../terminal/problems.ts";
import type { AgentsPorts } from "./ports.ts";

export interface LinkOptions extends JsonOption {
  readonly link?: string;
  readonly kill?: boolean;
}

export interface DelegationList {
  readonly links: readonly StoredLink[];
  readonly made: readonly CreatedAgent[];
}

export interface CurrentDelegations extends DelegationList {
  readonly isFrozen: boolean;
}

/** Null where no daemon runs: then no delegation is in use, and none is shown. */
export async function delegationsNow(ports: AgentsPorts): Promise<CurrentDelegations | null> {
  const running = await ports.running();
  if (!running.ok || running.value === null) return null;
  const found = await askOnce(ports, "links.list", {});
  return found.ok ? { ...found.value, isFrozen: running.value.isFrozen } : null;
}

/** The delegations from or to agents of a workspace, and the agents created there. */
export function inWorkspace({ links, made }: DelegationList, workspace: string | null): DelegationList {
  return {
    links: links.filter(({ granter, holder }) => [granter, holder].some((name) => name?.workspace === workspace)),
    made: made.filter(({ name }) => name.workspace === workspace),
  };
}

export function isLiveLink({ revoked, expires }: StoredLink, now: number): boolean {
  return revoked === null && (expires === null || now < expires);
}

/** Roots first, each with what was passed on below it. */
export function delegationLines(
  { links, made }: DelegationList,
  now: number,
  workspace: string | null,
  paint: AgentsPorts["paint"],
): readonly string[] {
  const live = links.filter((link) => isLiveLink(link, now));
  const ids = new Set(live.map(({ id }) => id));
  // What lies below a delegation that is not shown is shown as a root.
  const parentOf = ({ parent }: StoredLink): string | null => (parent !== null && ids.has(parent) ? parent : null);
  const below = (parent: string | null, depth: number): readonly string[] =>
    live
      .filter((link) => parentOf(link) === parent)
      .flatMap((link) => [
        `${"  ".repeat(depth + 1)}${lineOf(link, made, now, workspace, paint)}`,
        ...below(link.id, depth + 1),
      ]);
  return below(null, 0);
}

/** An agent of another workspace is named with it. */
function nameOf({ agent, workspace, user }: AgentName, here: string | null): string {
  const id = user === undefined ? visibleText(agent) : `${visibleText(agent)} (for ${visibleText(user)})`;
  return workspace === here ? id : `${id} of ${visibleText(workspace ?? "no workspace")}`;
}

function lineOf(
  { id, granter, holder, specs, tools = [], expires, calls }: StoredLink,
  made: readonly CreatedAgent[],
  now: number,
  workspace: string | null,
  paint: AgentsPorts["paint"],
): string {
  const isMade = made.some(({ link }) => link === id);
  const to = holder === null ? "an unclaimed token" : `${nameOf(holder, workspace)}${isMade ? " (created by it)" : ""}`;
  const limits = [
    ...(calls === null ? [] : [countText(calls, "call", "calls")]),
    ...(expires === null ? [] : [`${Math.ceil((expires - now) / 60_000)} min left`]),
  ];
  const ends = limits.length === 0 ? "" : `  (${limits.join(", ")})`;
  return `${nameOf(granter, workspace)} -> ${to}  ${[...specs, ...tools].map(visibleText).join(" ")}${ends}  ${paint.dim(id)}`;
}

export async function revokeLink(ports: AgentsPorts, id: string, options: LinkOptions): Promise<ExitCode> {
  const answer = await askOnce(ports, "links.revoke", { id, kill: options.kill === true });
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { revoked, ended } = answer.value;
  const many = countText(revoked.length, "delegation", "delegations");
  if (options.json) ports.print(jsonLine({ ok: true, revoked, ended }));
  else
    ports.print(
      `${ports.paint.good("revoked")} ${many}${ended === 0 ? "" : `, ${countText(ended, "sandbox", "sandboxes")} ended`}`,
    );
  return EXIT.ok;
}
