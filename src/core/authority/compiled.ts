// A link made ready for decisions: its grants by verb, and for each verb an index over the axis that tells them apart
// best.

import { isDestination, isNothing, isSegments, type Scope, scopeMatches, type Value } from "./axes/scope.ts";
import type { VerbEntry } from "./catalog.ts";
import { type Grant, type Level, type Purpose, purposeAllowed } from "./grant.ts";
import type { Link } from "./link.ts";
import { alikeElsewhere } from "./patterns/alike.ts";
import { indexAxis } from "./patterns/index-axis.ts";
import { PatternIndex } from "./patterns/literal-table.ts";
import type { Segments } from "./patterns/sequence.ts";
import { type Principal, principalsHold } from "./principal.ts";
import type { Request } from "./request.ts";

/** What a decision depends on besides the request. */
export interface Moment {
  readonly now: number;
  /** The session has read nothing untrusted. */
  readonly clean: boolean;
  readonly generation: number;
  readonly revoked: ((link: string) => boolean) | null;
  /** While true nothing is covered; absent where nothing can be frozen. */
  readonly frozen?: () => boolean;
  /** An account without anything left: the grant (or, for WHOLE_LINK, the link) does not cover. */
  readonly exhausted: ((link: string, grant: number) => boolean) | null;
  /** On whose behalf the session acts; absent: for no user. */
  readonly principals?: readonly Principal[];
}

/** In place of a grant's number: the account of the link itself. */
export const WHOLE_LINK = -1;

/**
 * A grant's mark: its level, a bit for one that nothing limits but the indexed axis, so that a match there is all, and
 * the number of a grant that is the same on every other axis. That one is asked in its place, and stays in the caches.
 */
const LEVEL = 3;
const PLAIN = 4;
const MARK_BITS = 3;

export class CompiledLink {
  readonly link: Link;
  /** Few verbs, so that comparing is faster than hashing; in the same places the index of each. */
  readonly #verbs: readonly VerbEntry[];
  readonly #indexes: readonly VerbIndex[];
  /** By a grant's number, what a decision asks of it most often. */
  readonly #marks: Int32Array;

  constructor(link: Link) {
    this.link = link;
    const marks = new Int32Array(link.grants.length);
    const byVerb = new Map<VerbEntry, number[]>();
    for (let index = 0; index < link.grants.length; index++) {
      const grant = link.grants[index] as Grant;
      marks[index] = (index << MARK_BITS) | grant.conditions.ask;
      const list = byVerb.get(grant.verb);
      if (list === undefined) byVerb.set(grant.verb, [index]);
      else list.push(index);
    }
    this.#marks = marks;
    this.#verbs = [...byVerb.keys()];
    this.#indexes = [...byVerb.values()].map((indexes) => new VerbIndex(link, indexes, marks));
  }

  /** The level of one of the link's grants. */
  levelOf(grant: number): Level {
    return ((this.#marks[grant] as number) & LEVEL) as Level;
  }

  /** Grants of this verb, by their place in the link. */
  grantsOf(verb: VerbEntry): readonly number[] {
    return this.#indexOf(verb)?.indexes ?? [];
  }

  /** Grants whose scopes match, whatever their conditions, in the order they were written. For explaining a denial. */
  matching(request: Request): readonly number[] {
    return this.#indexOf(request.verb)?.matching(request) ?? [];
  }

  /** An axis on which no grant of the verb covers, if the index knows one; else -1. For explaining a denial. */
  missedAxis(request: Request): number {
    return this.#indexOf(request.verb)?.missedAxis(request) ?? -1;
  }

  /** The least demanding grant that covers, the first written among equals; -1 if none does. */
  covers(request: Request, moment: Moment, purpose: Purpose | null): number {
    const index = this.#indexOf(request.verb);
    return index === null ? -1 : index.find(request, moment, purpose);
  }

  #indexOf(verb: VerbEntry): VerbIndex | null {
    const verbs = this.#verbs;
    for (let at = 0; at < verbs.length; at++) if (verbs[at] === verb) return this.#indexes[at] as VerbIndex;
    return null;
  }
}

export function compile(link: Link): CompiledLink {
  return new CompiledLink(link);
}

class VerbIndex {
  readonly indexes: readonly number[];
  readonly #link: Link;
  readonly #axis: number;
  /** The axis is one of hosts: its values are destinations, elsewhere they are segments. */
  readonly #hosts: boolean;
  readonly #patterns: PatternIndex | null;
  /** Grants the patterns cannot find: unlimited on the axis. */
  readonly #always: readonly number[];
  /** Grants that may cover a literal address. */
  readonly #literals: readonly number[];
  readonly #marks: Int32Array;

  constructor(link: Link, indexes: readonly number[], marks: Int32Array) {
    this.indexes = indexes;
    this.#link = link;
    this.#marks = marks;
    this.#axis = indexAxis(link, indexes);
    const always: number[] = [];
    const literals: number[] = [];
    this.#always = always;
    this.#literals = literals;
    this.#hosts = (link.grants[indexes[0] as number] as Grant).verb.axes[this.#axis]?.kind === "destination";
    this.#patterns = null;
    if (this.#axis < 0) return;
    const patterns = new PatternIndex();
    let last = indexes[0] as number;
    for (const index of indexes) {
      const grant = link.grants[index] as Grant;
      const scope = grant.scopes[this.#axis] as Scope;
      if (isNothing(scope)) continue;
      if (isPlain(grant, this.#axis)) marks[index] = (index << MARK_BITS) | PLAIN;
      else if (alikeElsewhere(grant, link.grants[last] as Grant, this.#axis))
        marks[index] = (last << MARK_BITS) | grant.conditions.ask;
      else last = index;
      // INVARIANT: what is in the index is of the axis's own kind, so that a match in it settles the axis.
      if (scope.kind === "sequences" && !this.#hosts) for (const pattern of scope.of) patterns.add(pattern, index);
      else if (scope.kind === "destinations" && this.#hosts) {
        for (const pattern of scope.names) patterns.add(pattern, index);
        if (scope.everyPublic || scope.ranges.length > 0) literals.push(index);
      } else always.push(index);
    }
    patterns.seal();
    this.#patterns = patterns;
  }

  find(request: Request, moment: Moment, purpose: Purpose | null): number {
    if (this.#patterns === null) return this.#best(this.indexes, this.indexes.length, -1, request, moment, purpose, -1);
    const value = request.values[this.#axis];
    let best = -1;
    if (this.#always.length > 0) best = this.#best(this.#always, this.#always.length, -1, request, moment, purpose, -1);
    if (!this.#hosts)
      return isSegments(value) ? this.#bestFound(value, this.#axis, request, moment, purpose, best) : best;
    if (!isDestination(value)) return best;
    if (value.name === null)
      return this.#best(this.#literals, this.#literals.length, -1, request, moment, purpose, best);
    // A name that was resolved must still be let through to its address; the index knows names only.
    return this.#bestFound(value.name, value.address === null ? this.#axis : -1, request, moment, purpose, best);
  }

  matching(request: Request): readonly number[] {
    const candidates = this.#candidates(request.values[this.#axis]);
    const grants = this.#link.grants;
    const found = candidates.filter((index) => grantMatches(grants[index] as Grant, request.values));
    return found.length < 2 ? found : [...new Set(found)].sort((left, right) => left - right);
  }

  missedAxis(request: Request): number {
    if (this.#patterns === null) return -1;
    return this.#candidates(request.values[this.#axis]).length === 0 ? this.#axis : -1;
  }

  /** Every grant that can match on the indexed axis, and perhaps more. */
  #candidates(value: Value): readonly number[] {
    if (this.#patterns === null) return this.indexes;
    if (isDestination(value) && value.name === null) return [...this.#always, ...this.#literals];
    const name: Segments | null = isDestination(value) ? value.name : isSegments(value) ? value : null;
    if (name === null) return this.#always;
    const count = this.#patterns.find(name);
    return [...this.#always, ...this.#patterns.found.slice(0, count)];
  }

  #bestFound(
    value: Segments,
    settled: number,
    request: Request,
    moment: Moment,
    purpose: Purpose | null,
    best: number,
  ): number {
    const patterns = this.#patterns as PatternIndex;
    const count = patterns.find(value);
    return count === 0 ? best : this.#best(patterns.found, count, settled, request, moment, purpose, best);
  }

  #best(
    candidates: readonly number[],
    count: number,
    settled: number,
    request: Request,
    moment: Moment,
    purpose: Purpose | null,
    soFar: number,
  ): number {
    const grants = this.#link.grants;
    let best = soFar;
    let bestLevel = best < 0 ? 3 : (this.#marks[best] as number) & LEVEL;
    for (let at = 0; at < count; at++) {
      const index = candidates[at] as number;
      const mark = this.#marks[index] as number;
      if ((mark & PLAIN) !== 0 && settled >= 0 && moment.exhausted === null) {
        if (bestLevel > 0 || index < best) best = index;
        bestLevel = 0;
        continue;
      }
      const level = mark & LEVEL;
      if (level > bestLevel || (level === bestLevel && index >= best)) continue;
      const grant = grants[settled < 0 ? index : mark >> MARK_BITS] as Grant;
      if (!grantMatches(grant, request.values, settled) || !conditionsHold(grant, moment, purpose)) continue;
      if (moment.exhausted?.(this.#link.id, index) === true) continue;
      best = index;
      bestLevel = level;
    }
    return best;
  }
}

/** No condition, and no other axis than this one limits it. */
function isPlain({ scopes, conditions }: Grant, axis: number): boolean {
  const { ask, expires, principals, clean, pass } = conditions;
  if (ask !== 0 || expires !== null || principals !== null || clean || pass !== "both") return false;
  for (let at = 0; at < scopes.length; at++) if (at !== axis && (scopes[at] as Scope).kind !== "any") return false;
  return true;
}

/** `settled`: the axis on which the index has already found the grant to match, or -1. */
export function grantMatches(grant: Grant, values: readonly Value[], settled = -1): boolean {
  const scopes = grant.scopes;
  for (let axis = 0; axis < scopes.length; axis++)
    if (axis !== settled && !scopeMatches(scopes[axis] as Scope, values[axis])) return false;
  return true;
}

export function conditionsHold(grant: Grant, moment: Moment, purpose: Purpose | null): boolean {
  const { expires, principals, clean, pass } = grant.conditions;
  if (expires !== null && moment.now >= expires) return false;
  if (principals !== null && !principalsHold(principals, moment.principals ?? [])) return false;
  if (clean && !moment.clean) return false;
  return purpose === null || purposeAllowed(pass, purpose);
}
