// The grant of a link that comes closest to covering a request, and the axis on which it falls short.

import { type Scope, scopeMatches } from "./axes/scope.ts";
import type { AxisName } from "./catalog.ts";
import type { CompiledLink } from "./compiled.ts";
import type { Grant } from "./grant.ts";
import type { Request } from "./request.ts";

/** A denied caller can repeat its request at will, so the search for a near grant is bounded. */
const nearestGrantsMax = 1024;

export interface NearestGrant {
  readonly grant: number;
  /** The first axis it does not cover; null if it covers them all. */
  readonly axis: AxisName | null;
}

export function nearestGrant(compiled: CompiledLink, request: Request): NearestGrant | null {
  const [whole] = compiled.matching(request);
  return whole === undefined ? nearestMiss(compiled, request) : { grant: whole, axis: null };
}

/** The same where no grant of the link covers on every axis, as the caller knows. */
export function nearestMiss(compiled: CompiledLink, request: Request): NearestGrant | null {
  const grants = compiled.grantsOf(request.verb);
  const enough = mostMet(request.verb.axes.length, compiled.missedAxis(request));
  let best = -1;
  let most = -1;
  for (let at = 0; at < grants.length && at < nearestGrantsMax && most < enough; at++) {
    const met = axesMet(compiled.link.grants[grants[at] as number] as Grant, request);
    if (met <= most) continue;
    most = met;
    best = grants[at] as number;
  }
  return best < 0 ? null : { grant: best, axis: missedName(compiled.link.grants[best] as Grant, request) };
}

/** The first axis says what a grant is about; it counts for more than any one of the others. */
function weight(axis: number): number {
  return axis === 0 ? 1.5 : 1;
}

/** What a grant can reach that misses an axis: this one, or, where none is known, the one that counts least. */
function mostMet(axes: number, missed: number): number {
  let all = 0;
  for (let axis = 0; axis < axes; axis++) all += weight(axis);
  return all - weight(missed < 0 ? axes - 1 : missed);
}

function axesMet({ scopes }: Grant, { values }: Request): number {
  let met = 0;
  for (let axis = 0; axis < scopes.length; axis++)
    if (scopeMatches(scopes[axis] as Scope, values[axis])) met += weight(axis);
  return met;
}

function missedName({ scopes }: Grant, { verb, values }: Request): AxisName | null {
  const missed = scopes.findIndex((scope, axis) => !scopeMatches(scope, values[axis]));
  return verb.axes[missed]?.name ?? null;
}
