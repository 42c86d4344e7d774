// The functions the laws are about, as one object: the core's own, or a mutant's.
import { type Authority, type Chain, coverage } from "../../src/core/authority/chain.ts";
import { compile, type Moment } from "../../src/core/authority/compiled.ts";
import { delegationFault } from "../../src/core/authority/delegation.ts";
import type { Grant, Purpose } from "../../src/core/authority/grant.ts";
import type { Link } from "../../src/core/authority/link.ts";
import { type Meet, meetChain, meetGrants } from "../../src/core/authority/meet.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { suggestGrant } from "../../src/core/authority/suggest.ts";
import { type Containment, within } from "../../src/core/authority/witness/within.ts";
import { PROTECTED } from "./alphabet.ts";
import { linkOf } from "./arbitraries.ts";

export type Links = readonly [Link, ...Link[]];

export interface Implementation {
  /** The level at which the chains cover, or null for a denial. */
  level(authority: readonly Links[], request: Request, moment: Moment, purpose: Purpose): number | null;
  within(child: readonly Grant[], parent: readonly Links[], delegating: boolean): Containment;
  meet(left: readonly Grant[], right: readonly Grant[]): Meet;
  meetChain(links: Links): Meet;
  suggest(request: Request): Grant | null;
  mayDelegate(granter: readonly Links[], proposed: readonly Grant[]): boolean;
}

function compiled(authority: readonly Links[]): Authority {
  return authority.map((links) => links.map(compile) as unknown as Chain);
}

export const CORE: Implementation = {
  level(authority, request, moment, purpose) {
    return coverage(compiled(authority), request, moment, purpose)?.level ?? null;
  },
  within: (child, parent, delegating) => within(child, compiled(parent), { protectedPaths: PROTECTED, delegating }),
  meet: meetGrants,
  meetChain: (links) => meetChain(links.map(compile) as unknown as Chain),
  suggest: suggestGrant,
  mayDelegate: (granter, proposed) =>
    delegationFault({ id: "granter", authority: compiled(granter) }, "target", proposed, PROTECTED) === null,
};

/** One chain of one link. */
export function single(grants: readonly Grant[]): readonly Links[] {
  return [[linkOf(grants)]];
}
