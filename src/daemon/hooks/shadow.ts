// Shadow mode: a denial is recorded and the call is left to the client, where the user's own ceilings allow it. INVARIANT: what the
// ceilings deny, what cannot be told, names that no tool may change, and a freeze stay denials.
import type { Chain } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import { denyingCapability } from "../../core/notation/policy/policy.ts";
import { isAtOrBelow } from "../../core/notation/record/hoist.ts";
import type { Holding } from "../calls/holding.ts";

/** `root`: the user's, which no agent leaves. `requests`: null where the call cannot be read. */
export function isWithinCeilings(
  { authority, record, blocked }: Holding,
  root: readonly string[] | null,
  requests: readonly Request[] | null,
  moment: Moment,
): boolean {
  // Without a chain the ceilings are not known: the record has no effect.
  if (blocked !== null || record === null || authority.length === 0) return false;
  const ceilings = authority.map((chain) => chain.filter(({ link }) => isCeiling(link)));
  const isFree = ceilings.every((links) => links.length === 0) && root === null && record.policyLimits.size === 0;
  if (isFree) return true;
  if (requests === null) return false;
  return requests.every((request) => {
    if (denyingCapability(record.policyLimits, request) !== null) return false;
    if (root !== null && !isBelow(request, root)) return false;
    return ceilings.every(
      (links) => links.length === 0 || judge([links as unknown as Chain], request, moment).outcome === "allow",
    );
  });
}

/** The user's ceiling, the record of the session's user, a pledge; not the text of the record that a person trusted. */
function isCeiling({ role, version }: Chain[number]["link"]): boolean {
  return role === "limit" && version !== "trusted";
}

/** Files, and the folders that programs run in. */
function isBelow({ verb, values: [value] }: Request, root: readonly string[]): boolean {
  if (!/^(fs|proc)\./.test(verb.verb)) return true;
  return typeof value === "object" && "segments" in value && isAtOrBelow(value.segments, root);
}
