// Grants with a limited number of uses. Requests of a running program are not charged, so these grants do not cover them.
import type { Authority } from "./chain.ts";
import { type Moment, WHOLE_LINK } from "./compiled.ts";
import { isCounted } from "./grant.ts";

/** In place of `exhausted`: whatever is counted is spent. INVARIANT: a limit that is not counted is no limit. */
export function countedIsSpent(authority: Authority): NonNullable<Moment["exhausted"]> {
  const links = new Map(authority.flat().map(({ link }) => [link.id, link]));
  return (id, grant) => {
    const link = links.get(id);
    if (link === undefined) return true;
    // The link as a whole was charged when the run began.
    if (grant === WHOLE_LINK) return false;
    const conditions = link.grants[grant]?.conditions;
    return conditions === undefined || isCounted(conditions);
  };
}
