// All agents of the workspace in a row, with those that cannot be read, and how each is summed up.
import type { LoadedAgent } from "../../agents/disk/loaded-agent.ts";
import { isNothing } from "../../core/authority/axes/scope.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { limitedGrants } from "../../core/authority/meet.ts";
import { agentIdOf, parseAgentId } from "../../core/base/agent-id.ts";
import type { CliPorts } from "../ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import type { JsonOption } from "../terminal/problems.ts";
import { progressOf } from "../terminal/progress.ts";
import { highestRisk, riskText } from "./risk.ts";

export type AgentListing =
  | { readonly id: string; readonly loaded: LoadedAgent }
  | { readonly id: string; readonly loaded: null; readonly message: string };

export function listedAgents(ports: CliPorts, options: JsonOption): readonly AgentListing[] {
  const ids = ports.agentIds();
  return progressOf(ports, options).over("reading agents", (step) =>
    ids.map((id, at) => {
      step(at, ids.length);
      // By another spelling of an id the agent of that id would be loaded, and not this file.
      const named = agentIdOf(id) === id ? null : parseAgentId(id);
      const found = named?.ok === false ? named : ports.loadAgent(id);
      return found.ok ? { id, loaded: found.value } : { id, loaded: null, message: found.message };
    }),
  );
}

export function isBroken({ loaded }: AgentListing): boolean {
  return loaded === null || loaded.agent.refused;
}

/** What its text grants and your ceiling covers. */
export function effectiveGrants({ grants, authority }: LoadedAgent["agent"]): readonly Grant[] {
  return limitedGrants(grants, authority);
}

export function listedSummary(one: AgentListing): object {
  if (one.loaded === null) return { id: one.id, error: one.message };
  const { refused } = one.loaded.agent;
  const grants = effectiveGrants(one.loaded.agent);
  return { id: one.id, file: one.loaded.source.name, capabilities: grants.length, risk: highestRisk(grants), refused };
}

export function listedRow({ paint }: CliPorts, one: AgentListing, width: number): string {
  const name = paint.strong(visibleText(one.id).padEnd(width));
  if (one.loaded === null) return `${paint.bad("✗")} ${name}  ${visibleText(one.message)}`;
  const { refused } = one.loaded.agent;
  const grants = effectiveGrants(one.loaded.agent);
  if (refused) return `${paint.bad("✗")} ${name}  not valid: grants nothing`;
  const risk = highestRisk(grants);
  const live = grants.filter((grant) => !grant.scopes.some(isNothing));
  const dot = risk === null ? paint.dim("○") : riskText(paint, risk, "●");
  const up = risk === null ? "" : `, up to ${riskText(paint, risk, risk)}`;
  return `${dot} ${name}  ${countText(live.length, "capability", "capabilities")}${up}`;
}
