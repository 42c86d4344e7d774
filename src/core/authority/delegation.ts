// May this authority be passed on? Never to oneself, never more than may be passed on, scope included.

import type { PathSettings } from "./axes/path.ts";
import type { Authority, Chain } from "./chain.ts";
import { type CompiledLink, compile } from "./compiled.ts";
import { type Grant, isCounted } from "./grant.ts";
import { type Containment, within } from "./witness/within.ts";

/** Deeper delegations are invalid. */
export const delegationDepthMax = 16;

export type DelegationFault =
  | { readonly code: "self_modification" }
  | { readonly code: "exceeds_grantor_authority"; readonly containment: Exclude<Containment, { kind: "within" }> };

export function delegationFault(
  granter: { readonly id: string; readonly authority: Authority },
  target: string,
  proposed: readonly Grant[],
  protectedPaths: PathSettings["protectedPaths"],
): DelegationFault | null {
  if (target === granter.id) return { code: "self_modification" };
  const containment = within(proposed, granter.authority, { protectedPaths, delegating: true });
  return containment.kind === "within" ? null : { code: "exceeds_grantor_authority", containment };
}

/** The part of a chain without budgets, rates and ends: what may be written elsewhere, where no call is charged to the chain. */
export function lastingPart([first, ...rest]: Chain): Chain {
  return [lasting(first), ...rest.map(lasting)];
}

function lasting({ link }: CompiledLink): CompiledLink {
  const { calls, validity, grants } = link;
  const isLimited = (calls ?? validity.notBefore ?? validity.expires ?? validity.generations) !== null;
  return compile({ ...link, grants: isLimited ? [] : grants.filter(({ conditions }) => !isCounted(conditions)) });
}
