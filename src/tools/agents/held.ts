// What an agent holds, written out, and what of it somebody else could not pass on.

import type { Ground } from "../../core/authority/axes/path.ts";
import { isNothing } from "../../core/authority/axes/scope.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { meetChain } from "../../core/authority/meet.ts";
import { within } from "../../core/authority/witness/within.ts";

/** INVARIANT: never less than the chains allow. What is too large to be met is taken as the last holder was given it. */
export function heldGrants(authority: Authority): readonly Grant[] {
  return authority.flatMap((chain) => {
    const { grants, complete } = meetChain(chain);
    if (complete) return grants;
    return chain.findLast(({ link }) => link.role === "own")?.link.grants ?? chain[0].link.grants;
  });
}

/** The first grant that is not within what may be passed on, or cannot be shown to be; null where all of them are. */
export function beyond(
  held: readonly Grant[],
  teller: Authority,
  protectedPaths: Ground["protectedPaths"],
): Grant | null {
  const lasting = held.filter(({ scopes }) => !scopes.some(isNothing));
  const containment = within(lasting, teller, { protectedPaths, delegating: true });
  return containment.kind === "within" ? null : (lasting[containment.grant] ?? null);
}
