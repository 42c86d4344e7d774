// Grants of `fs.*` and `proc.*` that cover nothing because no root is set: one finding for all of them.
import { type PathSettings, proposedRoot } from "../core/authority/axes/path.ts";
import { scopeKeys } from "../core/authority/catalog.ts";
import type { Grant } from "../core/authority/grant.ts";
import { entryOf } from "../core/notation/tree.ts";
import { type Finding, type FindingSubject, newFinding } from "./finding.ts";
import type { WrittenScopes } from "./written.ts";

const verbsShownMax = 8;

export function inertGrants(
  grants: readonly Grant[],
  written: WrittenScopes,
  about: FindingSubject,
  pathSettings: PathSettings,
): Finding | null {
  const rootless = grants.filter((grant) => {
    if (grant.root !== null || grant.implied !== null || !scopeKeys(grant.verb).includes("in")) return false;
    const scope = written.of(grant);
    // An `in` of its own that covers nothing has a reason of its own, which its diagnostic tells.
    return scope === null || (scope !== undefined && entryOf(scope, "in") === null);
  });
  if (rootless.length === 0) return null;
  const verbs = [...new Set(rootless.map(({ verb }) => verb.verb))];
  const [first] = verbs;
  const root = proposedRoot(pathSettings);
  return newFinding("inert_grants", about, {
    message: `${verbs.slice(0, verbsShownMax).join(", ")} cover nothing: there is no root`,
    meaning:
      "Neither `in`, nor the agent's `sandbox`, nor the configuration sets a root, so every such call is denied.",
    fix: `sandbox: ${root}, or ${first}{in=${root}}`,
    grants: rootless,
  });
}
