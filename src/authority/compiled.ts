// A link made ready for decisions: its grants by verb, and for verbs with many grants an index over the axis that
// tells them apart best.
import type { VerbEntry } from "./catalog.ts";
import { type Grant, type Purpose, purposeAllowed } from "./grant.ts";
import { indexAxis } from "./index-axis.ts";
import type { Link } from "./link.ts";
import type { Request } from "./request.ts";
import { isDestination, isNothing, isSegments, type Scope, scopeMatches, type Value } from "./scope.ts";
import type { Segments } from "./sequence.ts";
import { Trie } from "./trie.ts";

/** What a decision depends on besides the request. */
export interface Moment {
  readonly now: number;
  /** The session has read nothing untrusted. */
  readonly clean: boolean;
  readonly generation: number;
  readonly revoked: ((link: string) => boolean) | null;
  /** An account without anything left: the grant (or, for WHOLE_LINK, the link) does not cover. */
  readonly exhausted: ((link: string, grant: number) => boolean) | null;
}

/** In place of a grant's number: the account of the link itself. */
export const WHOLE_LINK = -1;

/** Below this many grants of a verb a plain loop is faster than any index (measured: `npm run bench -- decide`). */
const INDEX_GRANTS_MIN = 4;

export class CompiledLink {
  readonly link: Link;
  readonly #verbs = new Map<VerbEntry, VerbIndex>();

  constructor(link: Link) {
    this.link = link;
    const byVerb = new Map<VerbEntry, number[]>();
    for (const [index, grant] of link.grants.entries()) {
      const list = byVerb.get(grant.verb);
      if (list === undefined) byVerb.set(grant.verb, [index]);
      else list.push(index);
    }
    const plain = new Uint8Array(link.grants.length);
    for (const [verb, indexes] of byVerb) this.#verbs.set(verb, new VerbIndex(link, indexes, plain));
  }

  /** Grants of this verb, by their place in the link. */
  grantsOf(verb: VerbEntry): readonly number[] {
    return this.#verbs.get(verb)?.indexes ?? [];
  }

  /** Grants whose scopes match, whatever their conditions, in the order they were written. For explaining a denial. */
  matching(request: Request): readonly number[] {
    return this.#verbs.get(request.verb)?.matching(request) ?? [];
  }

  /** The least demanding grant that covers, the first written among equals; -1 if none does. */
  covers(request: Request, moment: Moment, purpose: Purpose | null): number {
    const index = this.#verbs.get(request.verb);
    return index === undefined ? -1 : index.find(request, moment, purpose);
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
  readonly #trie: Trie | null;
  /** Grants the trie cannot find: unlimited on the axis. */
  readonly #always: readonly number[];
  /** Grants that may cover a literal address. */
  readonly #literals: readonly number[];
  /** By a grant's number: nothing but the indexed axis limits it, so that a match there is all there is to ask. */
  readonly #plain: Uint8Array;

  constructor(link: Link, indexes: readonly number[], plain: Uint8Array) {
    this.indexes = indexes;
    this.#link = link;
    this.#plain = plain;
    this.#axis = indexes.length < INDEX_GRANTS_MIN ? -1 : indexAxis(link, indexes);
    const always: number[] = [];
    const literals: number[] = [];
    this.#always = always;
    this.#literals = literals;
    this.#trie = this.#axis < 0 ? null : new Trie();
    this.#hosts = (link.grants[indexes[0] as number] as Grant).verb.axes[this.#axis]?.kind === "destination";
    if (this.#trie === null) return;
    for (const index of indexes) {
      const grant = link.grants[index] as Grant;
      const scope = grant.scopes[this.#axis] as Scope;
      if (isNothing(scope)) continue;
      if (isPlain(grant, this.#axis)) plain[index] = 1;
      // INVARIANT: what is in the index is of the axis's own kind, so that a match in it settles the axis.
      if (scope.kind === "sequences" && !this.#hosts) for (const pattern of scope.of) this.#trie.add(pattern, index);
      else if (scope.kind === "destinations" && this.#hosts) {
        for (const pattern of scope.names) this.#trie.add(pattern, index);
        if (scope.everyPublic || scope.ranges.length > 0) literals.push(index);
      } else always.push(index);
    }
  }

  find(request: Request, moment: Moment, purpose: Purpose | null): number {
    if (this.#trie === null) return this.#best(this.indexes, this.indexes.length, -1, request, moment, purpose, -1);
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
    return [...new Set(found)].sort((left, right) => left - right);
  }

  #candidates(value: Value): readonly number[] {
    if (this.#trie === null) return this.indexes;
    if (isDestination(value) && value.name === null) return [...this.#always, ...this.#literals];
    const name: Segments | null = isDestination(value) ? value.name : isSegments(value) ? value : null;
    if (name === null) return this.#always;
    const count = this.#trie.find(name);
    return [...this.#always, ...this.#trie.found.slice(0, count)];
  }

  #bestFound(
    value: Parameters<Trie["find"]>[0],
    settled: number,
    request: Request,
    moment: Moment,
    purpose: Purpose | null,
    best: number,
  ): number {
    const trie = this.#trie as Trie;
    const count = trie.find(value);
    return count === 0 ? best : this.#best(trie.found, count, settled, request, moment, purpose, best);
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
    let bestLevel = best < 0 ? 3 : (grants[best] as Grant).conditions.ask;
    for (let at = 0; at < count; at++) {
      const index = candidates[at] as number;
      if (settled >= 0 && this.#plain[index] === 1 && moment.exhausted === null) {
        if (bestLevel > 0 || index < best) best = index;
        bestLevel = 0;
        continue;
      }
      const grant = grants[index] as Grant;
      const level = grant.conditions.ask;
      if (level > bestLevel || (level === bestLevel && index >= best)) continue;
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
  const { ask, expires, clean, pass } = conditions;
  if (ask !== 0 || expires !== null || clean || pass !== "both") return false;
  return scopes.every((scope, at) => at === axis || scope.kind === "any");
}

/** `settled`: the axis on which the index has already found the grant to match, or -1. */
export function grantMatches(grant: Grant, values: readonly Value[], settled = -1): boolean {
  const scopes = grant.scopes;
  for (let axis = 0; axis < scopes.length; axis++)
    if (axis !== settled && !scopeMatches(scopes[axis] as Scope, values[axis])) return false;
  return true;
}

export function conditionsHold(grant: Grant, moment: Moment, purpose: Purpose | null): boolean {
  const { expires, clean, pass } = grant.conditions;
  if (expires !== null && moment.now >= expires) return false;
  if (clean && !moment.clean) return false;
  return purpose === null || purposeAllowed(pass, purpose);
}
