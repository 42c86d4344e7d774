// The grant of a link that comes closest to covering a request, and the axis on which it falls short.
import type { AxisName } from "./catalog.ts";
import type { CompiledLink } from "./compiled.ts";
import type { Grant } from "./grant.ts";
import type { Request } from "./request.ts";
import { type Scope, scopeMatches } from "./scope.ts";

const nearestGrantsMax = 1024;

export interface NearestGrant {
  readonly grant: number;
  /** The first axis it does not cover; null if it covers them all. */
  readonly axis: AxisName | null;
}

export function nearestGrant(compiled: CompiledLink, request: Request): NearestGrant | null {
  const [whole] = compiled.matching(request);
  if (whole !== undefined) return { grant: whole, axis: null };
  let best: NearestGrant | null = null;
  let most = -1;
  // Whoever is denied can ask again at will, so the search for something near is bounded.
  for (const index of compiled.grantsOf(request.verb).slice(0, nearestGrantsMax)) {
    const { scopes } = compiled.link.grants[index] as Grant;
    let met = 0;
    let axis: AxisName | null = null;
    for (const [at, scope] of scopes.entries()) {
      // The first axis says what a grant is about; it counts for more than any one of the others.
      if (scopeMatches(scope as Scope, request.values[at])) met += at === 0 ? 1.5 : 1;
      else axis ??= request.verb.axes[at]?.name ?? null;
    }
    if (met > most) {
      most = met;
      best = { grant: index, axis };
      // No grant matches on every axis; one that misses a single axis other than the first cannot be outdone.
      if (met >= (scopes.length === 1 ? 0 : scopes.length - 0.5)) return best;
    }
  }
  return best;
}
