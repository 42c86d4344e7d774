// `ambit agents list | show | capabilities`: who is there, and what each may do.

import type { LoadedAgent, LoadResult } from "../../agents/disk/loaded-agent.ts";
import { readGrantSpec } from "../../agents/edit/edit-spec.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { limitedGrants, shownGrant } from "../../core/authority/meet.ts";
import { within } from "../../core/authority/witness/within.ts";
import { compactText, grantWords } from "../../core/notation/printer.ts";
import { place } from "../../core/notation/source.ts";
import type { Step } from "../../core/ports/progress.ts";
import { tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { progressOf } from "../terminal/progress.ts";
import { renderDiagnostic } from "../terminal/render.ts";
import { blockedLine, chainLines, delegatedLines, holdingNow, LEFT_OUT } from "./holding.ts";
import { type AgentListing, effectiveGrants, isBroken, listedAgents, listedRow, listedSummary } from "./list.ts";
import type { AgentsPorts } from "./ports.ts";
import { grantLine, sortedByRisk } from "./risk.ts";

export interface AgentsListOptions extends JsonOption {
  readonly can?: string;
}

export function agentsList(ports: AgentsPorts, options: AgentsListOptions): ExitCode {
  const all = listedAgents(ports, options);
  if (options.can !== undefined) return holders(ports, all, options.can, options);
  if (options.json) {
    ports.print(jsonLine({ agents: all.map(listedSummary) }));
    return all.some(isBroken) ? EXIT.invalidPolicy : EXIT.ok;
  }
  const width = Math.max(0, ...all.map(({ id }) => visibleText(id).length));
  for (const one of all) ports.print(listedRow(ports, one, width));
  ports.print(
    all.length === 0 ? "no agents here; create one: ambit agents new <id>" : countText(all.length, "agent", "agents"),
  );
  return all.some(isBroken) ? EXIT.invalidPolicy : EXIT.ok;
}

interface Holder {
  readonly id: string;
  readonly by: readonly string[];
}

type NoSpec = Extract<ReturnType<typeof readGrantSpec>, { ok: false }>;

/** Agents that hold at least the spec. An agent for which that cannot be shown is left out. */
function holdersOf(
  ports: AgentsPorts,
  all: readonly AgentListing[],
  can: string,
  step: Step,
): readonly Holder[] | NoSpec {
  const { protectedPaths } = ports.reading.pathSettings;
  const found: Holder[] = [];
  for (const [at, { id, loaded }] of all.entries()) {
    step(at, all.length);
    const root = loaded?.agent.workingRoot ?? ports.reading.pathSettings.base;
    const spec = readGrantSpec(can, { expires: null, calls: null }, { reading: ports.editContext(id).reading, root });
    if (!spec.ok) return spec;
    const { grant } = spec.value;
    if (
      loaded === null ||
      within([grant], loaded.agent.authority, { protectedPaths, delegating: false }).kind !== "within"
    )
      continue;
    found.push({
      id,
      by: effectiveGrants(loaded.agent)
        .filter((one) => one.verb === grant.verb)
        .map(compactText),
    });
  }
  return found;
}

function holders(ports: AgentsPorts, all: readonly AgentListing[], can: string, options: JsonOption): ExitCode {
  const found = progressOf(ports, options).over("comparing agents", (step) => holdersOf(ports, all, can, step));
  if ("ok" in found) {
    const { diagnostics, source, message } = found;
    if (!options.json) for (const one of diagnostics) ports.printError(renderDiagnostic(one, source, ports.paint));
    return fail(ports, options, EXIT.usage, message, "ambit agents list --can 'net.get{hosts=[api.example.com]}'");
  }
  if (options.json) ports.print(jsonLine({ can, agents: found }));
  else {
    for (const { id, by } of found)
      ports.print(`${ports.paint.good("●")} ${visibleText(id)}  ${ports.paint.dim(visibleText(by.join("  ")))}`);
    ports.print(
      found.length === 0
        ? `no agent here has a grant that covers ${visibleText(can)}`
        : countText(found.length, "agent", "agents"),
    );
  }
  return EXIT.ok;
}

export interface AgentOptions extends JsonOption {
  readonly user?: string;
}

export async function agentsCapabilities(ports: AgentsPorts, name: string, options: AgentOptions): Promise<ExitCode> {
  if (options.user !== undefined) return agentFor(ports, name, options.user, options);
  const found = ports.loadAgent(name);
  const now = await holdingNow(ports, { agent: name, user: null, pledge: null });
  if (!found.ok) return createdAgent(ports, found, now, options);
  const { agent } = found.value;
  const parts = partsOf(found.value, ports);
  const { held: grants } = parts;
  if (options.json)
    ports.print(
      jsonLine({
        agent: agent.id,
        refused: agent.refused,
        capabilities: grants.map((grant) => grantData(grant, ports)),
        ...nowData(now, parts),
      }),
    );
  else {
    printDiagnostics(ports, found.value);
    ports.print(ports.paint.strong(visibleText(agent.id)));
    for (const grant of grants) ports.print(grantLine(ports.paint, grant, ports.moment.now));
    ports.print(countText(grants.length, "capability", "capabilities"));
    printNow(ports, now, parts);
  }
  return agent.refused ? EXIT.invalidPolicy : EXIT.ok;
}

export async function agentsShow(ports: AgentsPorts, name: string, options: AgentOptions): Promise<ExitCode> {
  if (options.user !== undefined) return agentFor(ports, name, options.user, options);
  const found = ports.loadAgent(name);
  const now = await holdingNow(ports, { agent: name, user: null, pledge: null });
  if (!found.ok) return createdAgent(ports, found, now, options);
  const { agent, source } = found.value;
  const parts = partsOf(found.value, ports);
  const { held } = parts;
  const failed = agent.tests.filter(({ passed }) => !passed).length;
  if (options.json) {
    const { form, mode, refused } = agent;
    const diagnostics = agent.diagnostics.map(({ severity, code, message, span }) => ({
      severity,
      code,
      message,
      ...place(source, span.start),
    }));
    const tests = { passed: agent.tests.length - failed, failed };
    const capabilities = held.map((grant) => grantData(grant, ports));
    const told = { agent: agent.id, file: source.name, form, mode, refused, tests, capabilities, diagnostics };
    ports.print(jsonLine({ ...told, ...nowData(now, parts) }));
  } else {
    printDiagnostics(ports, found.value);
    ports.print(`${ports.paint.strong(visibleText(agent.id))}  ${ports.paint.dim(visibleText(source.name))}`);
    if (agent.mode !== null) ports.print(`mode  ${visibleText(agent.mode)}`);
    if (agent.workingRoot !== null) ports.print(`root  /${visibleText(agent.workingRoot.join("/"))}`);
    if (agent.tests.length > 0) ports.print(`tests ${agent.tests.length - failed} passed, ${failed} failed`);
    for (const grant of held) ports.print(grantLine(ports.paint, grant, ports.moment.now));
    ports.print(countText(held.length, "capability", "capabilities"));
    printNow(ports, now, parts);
  }
  return agent.refused ? EXIT.invalidPolicy : EXIT.ok;
}

/** In a session for this user: the user's record and conditions of grants are the daemon's to apply. */
async function agentFor(ports: AgentsPorts, name: string, user: string, options: JsonOption): Promise<ExitCode> {
  const now = await holdingNow(ports, { agent: name, user, pledge: null });
  if (now === null)
    return fail(
      ports,
      options,
      EXIT.daemon,
      "--user is answered by the daemon, which is not running",
      "ambit daemon start",
    );
  if (!now.ok) return tellRefusal(ports, now, options.json);
  const { agent, workspace, blocked, chains } = now.value;
  if (options.json) ports.print(jsonLine({ agent, workspace, user, blocked, chains }));
  else {
    ports.print(`${ports.paint.strong(visibleText(agent))}  ${ports.paint.dim(`for ${visibleText(user)}`)}`);
    for (const chain of chains) for (const line of chainLines(chain, ports.now(), ports.paint)) ports.print(line);
    const limits = [...new Set(chains.flatMap((chain) => chain.limits))];
    if (limits.length > 0) ports.print(`limited by ${limits.map((limit) => visibleText(limit)).join(", ")}`);
    const line = blockedLine(now.value);
    if (line !== null) ports.print(ports.paint.bad(line));
  }
  return EXIT.ok;
}

type Now = Awaited<ReturnType<typeof holdingNow>>;

/** An agent that another agent created has no file: the daemon alone knows it. */
function createdAgent(
  ports: AgentsPorts,
  missing: Extract<LoadResult, { ok: false }>,
  now: Now,
  options: JsonOption,
): ExitCode {
  if (now?.ok !== true || now.value.isRecord)
    return fail(
      ports,
      options,
      EXIT.error,
      missing.message,
      now === null ? `${missing.fix ?? ""} (${LEFT_OUT})`.trim() : missing.fix,
    );
  const { agent, workspace } = now.value;
  if (options.json) ports.print(jsonLine({ agent, workspace, file: null, ...nowData(now, NO_PARTS) }));
  else {
    ports.print(`${ports.paint.strong(visibleText(agent))}  ${ports.paint.dim("created by another agent")}`);
    printNow(ports, now, NO_PARTS);
  }
  return EXIT.ok;
}

/** What counts, and what is written and has no effect until the project is trusted. */
export interface TrustedParts {
  readonly held: readonly Grant[];
  readonly waiting: readonly Grant[];
  /** Of the text, but no part of it lies within the user's ceiling. */
  readonly taken: readonly Grant[];
}

const NO_PARTS: TrustedParts = { held: [], waiting: [], taken: [] };

export function partsOf({ agent, trust }: LoadedAgent, ports: AgentsPorts): TrustedParts {
  const { protectedPaths } = ports.reading.pathSettings;
  const asShown = (grant: Grant): Grant => shownGrant(grant, protectedPaths);
  const taken = sortedByRisk(
    agent.grants.filter((grant) => limitedGrants([grant], agent.authority, agent.grants.length).length === 0),
  );
  if (trust?.status.kind !== "untrusted" && trust?.status.kind !== "waiting")
    return { held: sortedByRisk(effectiveGrants(agent)).map(asShown), waiting: [], taken };
  const isWaiting = (grant: Grant): boolean =>
    within([grant], trust.agent.authority, { protectedPaths, delegating: false }).kind !== "within";
  return {
    held: sortedByRisk(effectiveGrants(agent).filter((grant) => !isWaiting(grant))).map(asShown),
    waiting: sortedByRisk(trust.written.grants.filter(isWaiting)),
    taken: [],
  };
}

function nowData(now: Now, { waiting, taken }: TrustedParts): object {
  const told = now?.ok === true ? now.value : null;
  return {
    waiting: waiting.map(compactText),
    outsideCeiling: taken.map(compactText),
    blocked: told?.blocked ?? null,
    delegated: told?.chains.filter(({ link }) => link !== null) ?? [],
    leftOut: now === null ? LEFT_OUT : null,
  };
}

function printNow(ports: AgentsPorts, now: Now, { waiting, taken }: TrustedParts): void {
  const { paint } = ports;
  for (const grant of waiting)
    ports.print(
      `${paint.dim("○")} ${visibleText(compactText(grant))}  ${paint.warn("(no effect until you run: ambit trust)")}`,
    );
  for (const grant of taken)
    ports.print(
      `${paint.dim("○")} ${visibleText(compactText(grant))}  ${paint.warn("(no effect: outside the ceiling of your config.yml)")}`,
    );
  if (now === null) ports.printError(paint.dim(LEFT_OUT));
  if (now?.ok !== true) return;
  for (const line of delegatedLines(now.value, ports.now(), paint)) ports.print(line);
  const blocked = blockedLine(now.value);
  if (blocked !== null) ports.print(paint.bad(blocked));
}

function grantData(grant: Grant, { moment: { now } }: AgentsPorts): object {
  const { risk } = grant.verb;
  const { expires } = grant.conditions;
  const isExpired = expires !== null && now >= expires;
  return { grant: compactText(grant), risk, effect: grantWords(grant), implied: grant.implied, isExpired };
}

function printDiagnostics(ports: AgentsPorts, { agent, source }: LoadedAgent): void {
  for (const diagnostic of agent.diagnostics) ports.printError(renderDiagnostic(diagnostic, source, ports.paint));
}
