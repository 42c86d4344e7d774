// Limits on arguments that a tool does not have: such a call can never be made.
import { placeText } from "../core/authority/axes/constraint.ts";
import { scopeMatches } from "../core/authority/axes/scope.ts";
import type { Grant } from "../core/authority/grant.ts";
import { nearestName } from "../core/notation/nearest.ts";
import { scopeOf } from "./breadth.ts";
import { type About, type Finding, found } from "./finding.ts";
import type { ProbeTool } from "./probe.ts";

export function unknownArguments(grant: Grant, tools: readonly ProbeTool[], about: About): readonly Finding[] {
  const limits = scopeOf(grant, "arguments");
  const which = scopeOf(grant, "tool");
  if (limits?.kind !== "arguments" || which === null || limits.constrained.length === 0) return [];
  const covered = tools.filter(({ tool }) => scopeMatches(which, tool));
  return limits.constrained.flatMap(({ at }): Finding[] => {
    const [name = ""] = at;
    const lacking = covered.find((tool) => !tool.arguments.includes(name));
    if (lacking === undefined) return [];
    const suggestion = nearestName(name, lacking.arguments);
    const finding = found("unknown_argument", about, {
      // Under a star the limit may be meant for the other tools.
      severity: covered.length === 1 ? "error" : "warning",
      message: `\`${lacking.name}\` has no argument \`${placeText([name]).slice(0, 80)}\``,
      meaning: "A limited argument must be there, so no call of this tool is covered.",
      fix: suggestion ?? `one of: ${lacking.arguments.slice(0, 12).join(", ") || "it takes none"}`,
      grants: [grant],
    });
    return [{ ...finding, suggestion }];
  });
}
