// The grants an agent holds, and those that another agent could not delegate.

import type { PathSettings } from "../../core/authority/axes/path.ts";
import { isNothing } from "../../core/authority/axes/scope.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { meetChain } from "../../core/authority/meet.ts";
import { within } from "../../core/authority/witness/within.ts";

/**
 * INVARIANT: never less than the chains allow. If a chain is too large to intersect, the grants of its last holder are
 * used.
 */
export function heldGrants(authority: Authority): readonly Grant[] {
  return authority.flatMap((chain) => {
    const { grants, complete } = meetChain(chain);
    if (complete) return grants;
    return chain.findLast(({ link }) => link.role === "own")?.link.grants ?? chain[0].link.grants;
  });
}

/** The first grant that is not within what may be delegated, or cannot be proved to be; null if all of them are. */
export function beyond(
  held: readonly Grant[],
  teller: Authority,
  protectedPaths: PathSettings["protectedPaths"],
): Grant | null {
  const lasting = held.filter(({ scopes }) => !scopes.some(isNothing));
  const containment = within(lasting, teller, { protectedPaths, delegating: true });
  return containment.kind === "within" ? null : (lasting[containment.grant] ?? null);
}
