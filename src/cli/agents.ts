// `ambit agents list | show | capabilities | tree`: who is there, and what each may do.
import type { Grant } from "../authority/grant.ts";
import { isNothing } from "../authority/scope.ts";
import { within } from "../authority/within.ts";
import { compactText, grantWords } from "../notation/printer.ts";
import { place } from "../notation/source.ts";
import { readGrantSpec } from "../record/edit-spec.ts";
import { counted, grantLine, highestRisk, riskText, sortedByRisk } from "./agents-risk.ts";
import type { AgentsWorld } from "./agents-world.ts";
import { shown } from "./cells.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { type Asked, fail } from "./problems.ts";
import { renderDiagnostic } from "./render.ts";
import type { LoadedAgent } from "./world.ts";

export interface AgentsListOptions extends Asked {
  readonly can?: string;
}

type Listed =
  | { readonly id: string; readonly loaded: LoadedAgent }
  | { readonly id: string; readonly loaded: null; readonly message: string };

export function agentsList(world: AgentsWorld, options: AgentsListOptions): ExitCode {
  const all = listed(world);
  if (options.can !== undefined) return holders(world, all, options.can, options);
  if (options.json) {
    world.print(JSON.stringify({ agents: all.map(summary) }));
    return all.some(isBroken) ? EXIT.invalidPolicy : EXIT.ok;
  }
  const width = Math.max(0, ...all.map(({ id }) => shown(id).length));
  for (const one of all) world.print(row(world, one, width));
  world.print(all.length === 0 ? "no agents here: ambit agents new <id>" : counted(all.length, "agent", "agents"));
  return all.some(isBroken) ? EXIT.invalidPolicy : EXIT.ok;
}

/** The agents that hold at least what the spec says. Whoever cannot be shown to hold it is not named. */
function holders(world: AgentsWorld, all: readonly Listed[], can: string, options: Asked): ExitCode {
  const { protectedPaths } = world.reading.ground;
  const found: { readonly id: string; readonly by: readonly string[] }[] = [];
  for (const { id, loaded } of all) {
    const root = loaded?.agent.workingRoot ?? world.reading.ground.base;
    const spec = readGrantSpec(can, { expires: null, calls: null }, { reading: world.editGround(id).reading, root });
    if (!spec.ok) {
      if (!options.json)
        for (const one of spec.diagnostics) world.printError(renderDiagnostic(one, spec.source, world.paint));
      return fail(
        world,
        options,
        EXIT.usage,
        spec.message,
        "ambit agents list --can 'net.get{hosts=[api.example.com]}'",
      );
    }
    const { grant } = spec.value;
    if (
      loaded === null ||
      within([grant], loaded.agent.authority, { protectedPaths, delegating: false }).kind !== "within"
    )
      continue;
    found.push({ id, by: loaded.agent.grants.filter((one) => one.verb === grant.verb).map(compactText) });
  }
  if (options.json) world.print(JSON.stringify({ can, agents: found }));
  else {
    for (const { id, by } of found)
      world.print(`${world.paint.good("●")} ${shown(id)}  ${world.paint.dim(shown(by.join("  ")))}`);
    world.print(found.length === 0 ? `no agent here holds ${shown(can)}` : counted(found.length, "agent", "agents"));
  }
  return EXIT.ok;
}

export function agentsCapabilities(world: AgentsWorld, name: string, options: Asked): ExitCode {
  const found = world.loadAgent(name);
  if (!found.ok) return fail(world, options, EXIT.error, found.message, found.fix);
  const { agent } = found.value;
  const grants = sortedByRisk(agent.grants);
  if (options.json)
    world.print(JSON.stringify({ agent: agent.id, refused: agent.refused, capabilities: grants.map(grantData) }));
  else {
    printDiagnostics(world, found.value);
    world.print(world.paint.strong(shown(agent.id)));
    for (const grant of grants) world.print(grantLine(world.paint, grant));
    world.print(counted(grants.length, "capability", "capabilities"));
  }
  return agent.refused ? EXIT.invalidPolicy : EXIT.ok;
}

export function agentsShow(world: AgentsWorld, name: string, options: Asked): ExitCode {
  const found = world.loadAgent(name);
  if (!found.ok) return fail(world, options, EXIT.error, found.message, found.fix);
  const { agent, source } = found.value;
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
    const capabilities = sortedByRisk(agent.grants).map(grantData);
    world.print(
      JSON.stringify({ agent: agent.id, file: source.name, form, mode, refused, tests, capabilities, diagnostics }),
    );
  } else {
    printDiagnostics(world, found.value);
    world.print(`${world.paint.strong(shown(agent.id))}  ${world.paint.dim(shown(source.name))}`);
    if (agent.mode !== null) world.print(`mode  ${shown(agent.mode)}`);
    if (agent.workingRoot !== null) world.print(`root  /${shown(agent.workingRoot.join("/"))}`);
    if (agent.tests.length > 0) world.print(`tests ${agent.tests.length - failed} passed, ${failed} failed`);
    for (const grant of sortedByRisk(agent.grants)) world.print(grantLine(world.paint, grant));
    world.print(counted(agent.grants.length, "capability", "capabilities"));
  }
  return agent.refused ? EXIT.invalidPolicy : EXIT.ok;
}

/** Agents by the folders of their ids. */
export function agentsTree(world: AgentsWorld, options: Asked): ExitCode {
  const all = listed(world);
  if (options.json) {
    world.print(JSON.stringify({ agents: all.map(summary) }));
    return EXIT.ok;
  }
  const seen = new Set<string>();
  for (const one of all) {
    const parts = one.id.split("/");
    for (const depth of parts.keys()) {
      const folder = parts.slice(0, depth).join("/");
      if (depth === 0 || seen.has(folder)) continue;
      seen.add(folder);
      world.print(`${"  ".repeat(depth - 1)}${world.paint.dim(`${shown(parts[depth - 1] as string)}/`)}`);
    }
    world.print(`${"  ".repeat(parts.length - 1)}${row(world, { ...one, id: parts.at(-1) as string }, 0)}`);
  }
  world.print(counted(all.length, "agent", "agents"));
  return EXIT.ok;
}

function listed(world: AgentsWorld): readonly Listed[] {
  return world.agentIds().map((id) => {
    const found = world.loadAgent(id);
    return found.ok ? { id, loaded: found.value } : { id, loaded: null, message: found.message };
  });
}

function isBroken({ loaded }: Listed): boolean {
  return loaded === null || loaded.agent.refused;
}

function summary(one: Listed): object {
  if (one.loaded === null) return { id: one.id, error: one.message };
  const { grants, refused } = one.loaded.agent;
  return { id: one.id, file: one.loaded.source.name, capabilities: grants.length, risk: highestRisk(grants), refused };
}

function row(world: AgentsWorld, one: Listed, width: number): string {
  const { paint } = world;
  const name = paint.strong(shown(one.id).padEnd(width));
  if (one.loaded === null) return `${paint.bad("✗")} ${name}  ${shown(one.message)}`;
  const { grants, refused } = one.loaded.agent;
  if (refused) return `${paint.bad("✗")} ${name}  not valid: grants nothing`;
  const risk = highestRisk(grants);
  const live = grants.filter((grant) => !grant.scopes.some(isNothing));
  const dot = risk === null ? paint.dim("○") : riskText(paint, risk, "●");
  const up = risk === null ? "" : `, up to ${riskText(paint, risk, risk)}`;
  return `${dot} ${name}  ${counted(live.length, "capability", "capabilities")}${up}`;
}

function grantData(grant: Grant): object {
  const { risk } = grant.verb;
  return { grant: compactText(grant), risk, effect: grantWords(grant), implied: grant.implied };
}

function printDiagnostics(world: AgentsWorld, { agent, source }: LoadedAgent): void {
  for (const diagnostic of agent.diagnostics) world.printError(renderDiagnostic(diagnostic, source, world.paint));
}
