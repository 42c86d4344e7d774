// `ambit agents tree`: agents by the folders of their ids, the risk of each, and what it may pass on to others.

import { isNothing } from "../../core/authority/axes/scope.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { type Grant, purposeAllowed } from "../../core/authority/grant.ts";
import { compactText } from "../../core/notation/printer.ts";
import { shown } from "../terminal/cells.ts";
import { counted } from "../terminal/counted.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Paint } from "../terminal/paint.ts";
import type { Asked } from "../terminal/problems.ts";
import { type Delegated, delegationLines, delegationsNow } from "./links.ts";
import { isBroken, type Listed, listedAgents, listedRow, listedSummary } from "./list.ts";
import { highestRisk, riskText, sortedByRisk } from "./risk.ts";
import type { AgentsWorld } from "./world.ts";

export async function agentsTree(world: AgentsWorld, options: Asked): Promise<ExitCode> {
  const all = listedAgents(world, options);
  const delegated = await delegationsNow(world);
  if (options.json) printData(world, all, delegated);
  else printTree(world, all, delegated);
  return all.some(isBroken) ? EXIT.invalidPolicy : EXIT.ok;
}

/** What an agent may hand to others, and the grants that let it; both empty where it may hand on nothing. */
interface PassedOn {
  readonly by: readonly Grant[];
  readonly grants: readonly Grant[];
}

const NOTHING_PASSED: PassedOn = { by: [], grants: [] };

/** It takes two: a grant that is used to pass on, and grants that may be passed on. */
export function passedOn(grants: readonly Grant[], { now }: Pick<Moment, "now">): PassedOn {
  const live = grants.filter(
    ({ scopes, conditions: { expires } }) => !scopes.some(isNothing) && (expires === null || now < expires),
  );
  const by = live.filter(
    ({ verb, conditions }) => verb.verb === "agent.grant" && purposeAllowed(conditions.pass, "use"),
  );
  const passable = live.filter(({ conditions }) => purposeAllowed(conditions.pass, "pass"));
  return by.length === 0 || passable.length === 0 ? NOTHING_PASSED : { by, grants: sortedByRisk(passable) };
}

function passedOnBy({ loaded }: Listed, { moment }: AgentsWorld): PassedOn {
  return loaded === null || loaded.agent.refused ? NOTHING_PASSED : passedOn(loaded.agent.grants, moment);
}

/** The folders an id lies in, the outermost first. */
function foldersOf(id: string): readonly string[] {
  const parts = id.split("/");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

function printData(world: AgentsWorld, all: readonly Listed[], delegated: Delegated | null): void {
  const agents = all.map((one) => {
    const { by, grants } = passedOnBy(one, world);
    const passesOn = { by: by.map(compactText), grants: grants.map(compactText), risk: highestRisk(grants) };
    return { ...listedSummary(one), folder: foldersOf(one.id).at(-1) ?? null, passesOn };
  });
  const folders = [...new Set(all.flatMap(({ id }) => foldersOf(id)))];
  world.print(jsonLine({ folders, agents, delegations: delegated?.links ?? [], made: delegated?.made ?? [] }));
}

function printTree(world: AgentsWorld, all: readonly Listed[], delegated: Delegated | null): void {
  const { paint } = world;
  const seen = new Set<string>();
  for (const one of all) {
    const folders = foldersOf(one.id);
    for (const [depth, folder] of folders.entries()) {
      if (seen.has(folder)) continue;
      seen.add(folder);
      world.print(`${"  ".repeat(depth)}${paint.dim(`${shown(nameOf(folder))}/`)}`);
    }
    const indent = "  ".repeat(folders.length);
    world.print(`${indent}${listedRow(world, { ...one, id: nameOf(one.id) }, 0)}`);
    const line = passedOnLine(passedOnBy(one, world), paint);
    if (line !== null) world.print(`${indent}    ${line}`);
  }
  world.print(
    all.length === 0 ? "no agents here; create one: ambit agents new <id>" : counted(all.length, "agent", "agents"),
  );
  const lines = delegated === null ? [] : delegationLines(delegated, world.now(), paint);
  if (lines.length === 0)
    world.print(paint.dim(delegated === null ? "delegations: the daemon is not running" : "delegations: none"));
  else world.print(["delegations:", ...lines].join("\n"));
}

function nameOf(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** Specs of one agent that are spelled out; `agents capabilities` has them all. */
const specsShownMax = 8;

function passedOnLine({ by, grants }: PassedOn, paint: Paint): string | null {
  const risk = highestRisk(grants);
  if (risk === null) return null;
  const specs = grants.slice(-specsShownMax).map((grant) => shown(compactText(grant)));
  const more = grants.length > specs.length ? `, and ${grants.length - specs.length} more` : "";
  const doors = by.map((grant) => shown(compactText(grant))).join(", ");
  return `may delegate up to ${riskText(paint, risk, risk)}: ${specs.join(", ")}${more}  ${paint.dim(`by ${doors}`)}`;
}
