// `ambit agents tree`: agents by the folders of their ids, what each holds now, and what it may pass on to others.

import { isNothing } from "../../core/authority/axes/scope.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { type Grant, purposeAllowed } from "../../core/authority/grant.ts";
import { compactText } from "../../core/notation/printer.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Paint } from "../terminal/paint.ts";
import type { JsonOption } from "../terminal/problems.ts";
import { partsOf } from "./agents.ts";
import {
  type CurrentDelegations,
  type DelegationList,
  delegationLines,
  delegationsNow,
  inWorkspace,
  isLiveLink,
} from "./links.ts";
import { type AgentListing, effectiveGrants, isBroken, listedAgents, listedRow, listedSummary } from "./list.ts";
import type { AgentsPorts } from "./ports.ts";
import { highestRisk, riskText, sortedByRisk } from "./risk.ts";

export interface TreeOptions extends JsonOption {
  readonly all: boolean;
}

export async function agentsTree(ports: AgentsPorts, options: TreeOptions): Promise<ExitCode> {
  const all = listedAgents(ports, options);
  const delegated = await delegationsNow(ports);
  const workspace = ports.workspaceAt?.() ?? null;
  if (options.json) printData(ports, all, delegated, workspace, options);
  else printTree(ports, all, delegated, workspace, options);
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

function passedOnBy({ loaded }: AgentListing, { moment }: AgentsPorts): PassedOn {
  return loaded === null || loaded.agent.refused ? NOTHING_PASSED : passedOn(effectiveGrants(loaded.agent), moment);
}

/** The folders an id lies in, the outermost first. */
function foldersOf(id: string): readonly string[] {
  const parts = id.split("/");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

interface Marks {
  /** Delegations it holds. */
  readonly delegated: number;
  /** Grants of its text that have no effect until the project is trusted. */
  readonly waiting: number;
  readonly expired: number;
}

function marksOf(
  { id, loaded }: AgentListing,
  ports: AgentsPorts,
  { links }: DelegationList,
  workspace: string | null,
): Marks {
  const now = ports.now();
  const held = links.filter((link) => link.holder?.agent === id && link.holder.workspace === workspace);
  const parts = loaded === null ? null : partsOf(loaded, ports);
  const isExpired = ({ conditions: { expires } }: Grant): boolean => expires !== null && expires <= now;
  return {
    delegated: held.filter((link) => isLiveLink(link, now)).length,
    waiting: parts?.waiting.length ?? 0,
    expired: parts?.held.filter(isExpired).length ?? 0,
  };
}

function marksText({ delegated, waiting, expired }: Marks, paint: Paint): string {
  const words = [
    ...(delegated === 0 ? [] : [countText(delegated, "delegation", "delegations")]),
    ...(waiting === 0 ? [] : [paint.warn(`${waiting} without effect until you run: ambit trust`)]),
    ...(expired === 0 ? [] : [paint.warn(`${expired} expired`)]),
  ];
  return words.length === 0 ? "" : ` (${words.join(", ")})`;
}

const NO_DELEGATIONS: DelegationList = { links: [], made: [] };

function printData(
  ports: AgentsPorts,
  all: readonly AgentListing[],
  delegated: CurrentDelegations | null,
  workspace: string | null,
  options: TreeOptions,
): void {
  const { links, made } = options.all
    ? (delegated ?? NO_DELEGATIONS)
    : inWorkspace(delegated ?? NO_DELEGATIONS, workspace);
  const agents = all.map((one) => {
    const { by, grants } = passedOnBy(one, ports);
    const passesOn = { by: by.map(compactText), grants: grants.map(compactText), risk: highestRisk(grants) };
    const holds = marksOf(one, ports, { links, made }, workspace);
    return { ...listedSummary(one), folder: foldersOf(one.id).at(-1) ?? null, passesOn, holds };
  });
  const folders = [...new Set(all.flatMap(({ id }) => foldersOf(id)))];
  const isFrozen = delegated?.isFrozen ?? false;
  ports.print(jsonLine({ workspace, isFrozen, folders, agents, delegations: links, made }));
}

function printTree(
  ports: AgentsPorts,
  all: readonly AgentListing[],
  delegated: CurrentDelegations | null,
  workspace: string | null,
  options: TreeOptions,
): void {
  const { paint } = ports;
  const whole = delegated ?? NO_DELEGATIONS;
  const here = inWorkspace(whole, workspace);
  const seen = new Set<string>();
  if (workspace !== null) ports.print(paint.dim(visibleText(workspace)));
  if (delegated?.isFrozen === true) ports.print(paint.bad("frozen: every call is denied until you run: ambit thaw"));
  for (const one of all) {
    const folders = foldersOf(one.id);
    for (const [depth, folder] of folders.entries()) {
      if (seen.has(folder)) continue;
      seen.add(folder);
      ports.print(`${"  ".repeat(depth)}${paint.dim(`${visibleText(nameOf(folder))}/`)}`);
    }
    const indent = "  ".repeat(folders.length);
    const marks = marksText(marksOf(one, ports, here, workspace), paint);
    ports.print(`${indent}${listedRow(ports, { ...one, id: nameOf(one.id) }, 0)}${marks}`);
    const line = passedOnLine(passedOnBy(one, ports), paint);
    if (line !== null) ports.print(`${indent}    ${line}`);
  }
  for (const { name, creator, ended } of here.made) {
    if (ended !== null || all.some(({ id }) => id === name.agent)) continue;
    const held = marksOf({ id: name.agent, loaded: null, message: "" }, ports, here, workspace);
    const user = name.user === undefined ? "" : ` for ${visibleText(name.user)}`;
    const row = `${paint.dim("○")} ${paint.strong(visibleText(name.agent))}  created by ${visibleText(creator.agent)}${user}`;
    ports.print(`${row}${marksText(held, paint)}`);
  }
  ports.print(
    all.length === 0 ? "no agents here; create one: ambit agents new <id>" : countText(all.length, "agent", "agents"),
  );
  const lines = delegationLines(options.all ? whole : here, ports.now(), workspace, paint);
  const elsewhere = whole.links.filter((link) => isLiveLink(link, ports.now()) && !here.links.includes(link)).length;
  if (lines.length === 0)
    ports.print(paint.dim(delegated === null ? "delegations: the daemon is not running" : "delegations: none"));
  else ports.print(["delegations:", ...lines].join("\n"));
  if (!options.all && elsewhere > 0)
    ports.print(
      paint.dim(`${countText(elsewhere, "delegation", "delegations")} in other workspaces: ambit agents tree --all`),
    );
}

function nameOf(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** Specs of one agent that are spelled out; `agents capabilities` has them all. */
const specsShownMax = 8;

function passedOnLine({ by, grants }: PassedOn, paint: Paint): string | null {
  const risk = highestRisk(grants);
  if (risk === null) return null;
  const specs = grants.slice(-specsShownMax).map((grant) => visibleText(compactText(grant)));
  const more = grants.length > specs.length ? `, and ${grants.length - specs.length} more` : "";
  const grantTexts = by.map((grant) => visibleText(compactText(grant))).join(", ");
  return `may delegate up to ${riskText(paint, risk, risk)}: ${specs.join(", ")}${more}  ${paint.dim(`by ${grantTexts}`)}`;
}
