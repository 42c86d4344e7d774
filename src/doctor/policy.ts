// Rulings of an organisation that do not reach the agents they were written for.
import type { Span } from "../core/authority/grant.ts";
import { Diagnostics } from "../core/notation/diagnostic.ts";
import { nearestName } from "../core/notation/nearest.ts";
import type { OuterPolicies } from "../core/notation/policy/outer-policies.ts";
import { limitedBy } from "../core/notation/policy/policy.ts";
import { type Finding, NO_AGENT, newFinding } from "./finding.ts";
import type { Probe, ProbeAgent } from "./probe.ts";

const agentsShownMax = 6;

export function policyFindings({ agents, policies = null }: Probe): readonly Finding[] {
  if (policies === null) return [];
  return [...overruled(agents, policies), ...unknownAgents(agents, policies)];
}

/** A record overrules the defaults: what they deny, it still grants. One finding for each capability. */
function overruled(agents: readonly ProbeAgent[], { org, places }: OuterPolicies): readonly Finding[] {
  return [...(org ?? [])].flatMap(([capability, ruling]) => {
    const table = new Map([[capability, "deny"]] as const);
    const holders = agents.filter(({ grants }) => limitedBy(table, grants, new Diagnostics()).length < grants.length);
    if (ruling !== "deny" || holders.length === 0) return [];
    const names = holders.slice(0, agentsShownMax).map(({ id }) => id);
    const more = holders.length > agentsShownMax ? ` and ${holders.length - agentsShownMax} more` : "";
    const rows = names.map((id) => `${/^[\w-]+$/.test(id) ? id : JSON.stringify(id)}: { ${capability}: deny }`);
    return [
      newFinding("deny_overruled", NO_AGENT, {
        message: `\`${capability}: deny\` denies nothing to ${names.join(", ")}${more}`,
        meaning: "It is a default, and the `policy` of the record overrules it. A record cannot overrule `agents:`.",
        fix: `agents: { ${rows.join(", ")} }`,
        span: spanOf(places?.org.get(capability)),
      }),
    ];
  });
}

function unknownAgents(agents: readonly ProbeAgent[], policies: OuterPolicies): readonly Finding[] {
  const ids = agents.map(({ id }) => id);
  return [...policies.agents.keys()].flatMap((id) => {
    if (ids.includes(id)) return [];
    const suggestion = nearestName(id, ids);
    const [place] = policies.places?.agents.get(id)?.values() ?? [];
    const finding = newFinding("unknown_agent", NO_AGENT, {
      message: `\`agents\` names ${JSON.stringify(id.slice(0, 80))}, which is not an agent here: its rulings limit nothing`,
      span: spanOf(place),
      ...(suggestion === null ? {} : { fix: suggestion }),
    });
    return [{ ...finding, suggestion }];
  });
}

function spanOf(span: Span | undefined): Span | null {
  return span ?? null;
}
