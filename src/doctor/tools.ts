// What does not fit between tools and agents: limits on arguments that a tool does not have, and declarations that no
// agent that may call the tool can fulfil.
import { placeText } from "../core/authority/axes/constraint.ts";
import { scopeMatches } from "../core/authority/axes/scope.ts";
import { compile } from "../core/authority/compiled.ts";
import type { Grant } from "../core/authority/grant.ts";
import { ALWAYS } from "../core/authority/link.ts";
import { within } from "../core/authority/witness/within.ts";
import { nearestName } from "../core/notation/nearest.ts";
import { requestText } from "../core/notation/request/request-printer.ts";
import { isLive, scopeOf } from "./breadth.ts";
import { type Finding, type FindingSubject, NO_AGENT, newFinding } from "./finding.ts";
import type { Probe, ProbeAgent, ProbeTool } from "./probe.ts";

export function unknownArguments(grant: Grant, tools: readonly ProbeTool[], about: FindingSubject): readonly Finding[] {
  const limits = scopeOf(grant, "arguments");
  const which = scopeOf(grant, "tool");
  if (limits?.kind !== "arguments" || which === null || limits.constrained.length === 0) return [];
  const covered = tools.filter(({ tool }) => scopeMatches(which, tool));
  return limits.constrained.flatMap(({ at }): Finding[] => {
    const [name = ""] = at;
    const lacking = covered.find((tool) => !tool.arguments.includes(name));
    if (lacking === undefined) return [];
    const suggestion = nearestName(name, lacking.arguments);
    const finding = newFinding("unknown_argument", about, {
      // Under a star the limit may be meant for the other tools.
      severity: covered.length === 1 ? "error" : "warning",
      message: `\`${lacking.name}\` has no argument \`${placeText([name]).slice(0, 80)}\``,
      meaning: "A limited argument is required, so this grant covers no call of the tool.",
      fix: suggestion ?? `one of: ${lacking.arguments.slice(0, 12).join(", ") || "it has no arguments"}`,
      grants: [grant],
    });
    return [{ ...finding, suggestion }];
  });
}

const agentsShownMax = 4;

/** A tool runs with what it declares and the calling agent holds: where no caller holds all of it, a part never works. */
export function unfulfilledTools({ tools, agents, pathSettings, now }: Probe): readonly Finding[] {
  return tools.flatMap((tool) => {
    const callers = agents.filter(({ grants }) => grants.some((grant) => mayInvoke(grant, tool, now)));
    const [first] = callers;
    if (first === undefined || tool.needs.length === 0) return [];
    const exceeding = callers.map((agent) => counterexample(tool, agent, pathSettings.protectedPaths));
    const [example] = exceeding;
    if (example === undefined || exceeding.includes(undefined)) return [];
    const names = callers.slice(0, agentsShownMax).map(({ id }) => id);
    const more = callers.length > agentsShownMax ? ` and ${callers.length - agentsShownMax} more` : "";
    const shown = example === null ? "" : `, for example ${example}`;
    return [
      newFinding("tool_exceeds_agents", NO_AGENT, {
        message: `\`${tool.name}\` declares more than ${names.join(", ")}${more} may do${shown}`,
        meaning:
          "A tool gets only what both its declaration and the caller's grants cover, so a part of it is denied in every call.",
        fix: `narrow the declaration of \`${tool.name}\`, or grant the rest to an agent that calls it`,
      }),
    ];
  });
}

function mayInvoke(grant: Grant, { tool }: ProbeTool, now: number): boolean {
  const which = grant.verb.verb === "tool.invoke" && isLive(grant, now) ? scopeOf(grant, "tool") : null;
  return which !== null && scopeMatches(which, tool);
}

/** A request that the tool declares and the agent may not make; null where none can be told, undefined where there is none. */
function counterexample(
  { needs }: ProbeTool,
  { id, grants }: ProbeAgent,
  protectedPaths: Probe["pathSettings"]["protectedPaths"],
): string | null | undefined {
  const link = compile({ id, role: "own", issuer: "person", holder: id, grants, validity: ALWAYS, calls: null });
  const contained = within(needs, [[link]], { protectedPaths, delegating: false });
  if (contained.kind === "within") return undefined;
  return contained.kind === "exceeds" ? requestText(contained.request) : null;
}
