// What a decision costs: the accounts on its way that count calls.
import type { Authority, Chain } from "../authority/chain.ts";
import { WHOLE_LINK } from "../authority/compiled.ts";
import type { Basis } from "../authority/decision.ts";
import type { Grant } from "../authority/grant.ts";
import type { Charge } from "../ports/stores/commit.ts";

/** Every limited account on the way: of each deciding grant, and of each link it stands in. Once per call. */
export function chargesOf(decision: {
  readonly basis: readonly Basis[];
  readonly authority: Authority;
}): readonly Charge[] {
  const charges: Charge[] = [];
  for (const { chain, grants } of decision.basis) {
    for (let place = 0; place < grants.length; place++) {
      const link = (decision.authority[chain] as Chain)[place]?.link;
      if (link === undefined) continue;
      if (link.calls !== null) addCharge(charges, link.id, WHOLE_LINK);
      const index = grants[place] as number;
      const { calls, rate } = (link.grants[index] as Grant).conditions;
      if (calls !== null || rate !== null) addCharge(charges, link.id, index);
    }
  }
  return charges;
}

function addCharge(charges: Charge[], link: string, grant: number): void {
  for (const one of charges) if (one.grant === grant && one.link === link) return;
  charges.push({ link, grant });
}
