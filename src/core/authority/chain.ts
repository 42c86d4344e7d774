// Chains and sets of chains. A request is covered by a chain when every link covers it, and by an authority when
// some one chain does. Narrowing or revoking any link takes effect at once, because nothing is ever merged.
import { type CompiledLink, type Moment, WHOLE_LINK } from "./compiled.ts";
import type { Basis } from "./decision.ts";
import type { Level, Purpose } from "./grant.ts";
import type { Request } from "./request.ts";

/** Non-empty by its type: the meet of nothing would be everything. */
export type Chain = readonly [CompiledLink, ...CompiledLink[]];
export type Authority = readonly Chain[];

/** Each chain with more links at its end, which can only narrow it. */
export function narrowAuthority(authority: Authority, links: readonly CompiledLink[]): Authority {
  return links.length === 0 ? authority : authority.map((chain): Chain => [...chain, ...links]);
}

/** A call uses the last link that has an owner, and every link before it must allow passing on. */
export function purposeAt(chain: Chain, place: number, purpose: Purpose): Purpose | null {
  const link = (chain[place] as CompiledLink).link;
  if (link.role === "limit") return null;
  return place === lastOwn(chain) ? purpose : "pass";
}

/** The index of the last link that has an owner. */
export function lastOwn(chain: Chain): number {
  for (let place = chain.length - 1; place > 0; place--)
    if ((chain[place] as CompiledLink).link.role === "own") return place;
  return 0;
}

/** The level at which the chain covers, or -1. Makes no garbage. */
export function chainLevel(chain: Chain, request: Request, moment: Moment, purpose: Purpose): Level | -1 {
  let level: Level = 0;
  const own = lastOwn(chain);
  for (let place = 0; place < chain.length; place++) {
    const compiled = chain[place] as CompiledLink;
    if (linkState(compiled, moment) !== null) return -1;
    const needed = compiled.link.role === "limit" ? null : place === own ? purpose : "pass";
    const index = compiled.covers(request, moment, needed);
    if (index < 0) return -1;
    const needs = compiled.levelOf(index);
    if (needs > level) level = needs;
  }
  return level;
}

export type LinkFault = "frozen" | "expired" | "generation_stale" | "revoked" | "budget_exhausted";

export function linkState({ link }: CompiledLink, moment: Moment): LinkFault | null {
  const { notBefore, expires, generations } = link.validity;
  if (moment.frozen?.() === true) return "frozen";
  if (moment.revoked?.(link.id) === true) return "revoked";
  if (generations !== null && !generations.includes(moment.generation)) return "generation_stale";
  if ((notBefore !== null && moment.now < notBefore) || (expires !== null && moment.now >= expires)) return "expired";
  return link.calls === 0 || moment.exhausted?.(link.id, WHOLE_LINK) === true ? "budget_exhausted" : null;
}

export interface Coverage {
  readonly level: Level;
  readonly by: Basis;
}

/** The chain that covers with the least demand, or null. `also`: what else it must cover, at the level it does. */
export function coverage(
  authority: Authority,
  request: Request,
  moment: Moment,
  purpose: Purpose = "use",
  also: ((chain: Chain) => Level | -1) | null = null,
): Coverage | null {
  let best = -1;
  let bestLevel: Level | 3 = 3;
  for (let index = 0; index < authority.length && bestLevel > 0; index++) {
    const chain = authority[index] as Chain;
    let level = chainLevel(chain, request, moment, purpose);
    if (level >= 0 && also !== null) {
      const more = also(chain);
      level = more < 0 ? -1 : (Math.max(level, more) as Level);
    }
    if (level >= 0 && level < bestLevel) {
      best = index;
      bestLevel = level as Level;
    }
  }
  if (best < 0 || bestLevel === 3) return null;
  const chain = authority[best] as Chain;
  const grants = chain.map((compiled, place) => compiled.covers(request, moment, purposeAt(chain, place, purpose)));
  return { level: bestLevel, by: { chain: best, grants } };
}
