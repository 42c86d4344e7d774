// Until when a decision holds by itself: what lasts longer than a moment must end when its grants do.
import type { Authority } from "./chain.ts";
import type { Moment } from "./compiled.ts";
import { judge } from "./judge.ts";
import type { Request } from "./request.ts";

/**
 * The first moment from which the request would be answered with less than now; null where no such moment is written.
 * Only ends can be written, so nothing changes between them.
 */
export function coveredUntil(authority: Authority, request: Request, moment: Moment): number | null {
  const first = judge(authority, request, moment).outcome;
  if (first === "deny") return moment.now;
  for (const end of endsAfter(authority, moment.now)) {
    const { outcome } = judge(authority, request, { ...moment, now: end });
    if (outcome === "deny" || (first === "allow" && outcome === "ask")) return end;
  }
  return null;
}

function endsAfter(authority: Authority, now: number): readonly number[] {
  const ends = new Set<number>();
  for (const chain of authority)
    for (const { link } of chain)
      for (const end of [link.validity.expires, ...link.grants.map(({ conditions }) => conditions.expires)])
        if (end !== null && end > now) ends.add(end);
  return [...ends].sort((left, right) => left - right);
}
