// May this authority be passed on? Never to oneself, never more than may be passed on, scope included.

import type { Ground } from "./axes/path.ts";
import type { Authority } from "./chain.ts";
import type { Grant } from "./grant.ts";
import { type Containment, within } from "./witness/within.ts";

export type DelegationFault =
  | { readonly code: "self_modification" }
  | { readonly code: "exceeds_grantor_authority"; readonly containment: Exclude<Containment, { kind: "within" }> };

export function delegationFault(
  granter: { readonly id: string; readonly authority: Authority },
  target: string,
  proposed: readonly Grant[],
  protectedPaths: Ground["protectedPaths"],
): DelegationFault | null {
  if (target === granter.id) return { code: "self_modification" };
  const containment = within(proposed, granter.authority, { protectedPaths, delegating: true });
  return containment.kind === "within" ? null : { code: "exceeds_grantor_authority", containment };
}
