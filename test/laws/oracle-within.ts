// Containment of grants by the oracle: on each axis the sets of parent grants that one value of the child can match, then every
// combination over the axes, every moment and every purpose.

import type { DestinationScope } from "../../src/core/authority/axes/destination.ts";
import type { Scope, Value } from "../../src/core/authority/axes/scope.ts";
import type { Axis } from "../../src/core/authority/catalog.ts";
import type { Grant, Purpose } from "../../src/core/authority/grant.ts";
import type { Link } from "../../src/core/authority/link.ts";
import type { Sequence } from "../../src/core/authority/patterns/sequence.ts";
import type { Request } from "../../src/core/authority/request.ts";
import type { AddressRange } from "../../src/core/base/address.ts";
import { addressOf } from "../../src/core/base/address.ts";
import { PROTECTED } from "./alphabet.ts";
import { ACTING } from "./arbitraries.ts";
import { type NaiveMoment, naiveHolds } from "./naive.ts";
import { naiveBoundaries, naiveOpens, naiveSpecial } from "./naive-address.ts";
import { meetings } from "./oracle.ts";
import { guard } from "./requests.ts";
import type { SequenceKind } from "./sequences.ts";

/** One kind of value on an axis: the parent grants that match it, as bits, and an example. */
interface AxisCase {
  readonly bits: number;
  readonly value: Value;
}

export type OracleAnswer =
  | { readonly within: true }
  | { readonly within: false; readonly request: Request; readonly moment: NaiveMoment; readonly purpose: Purpose };

/** Whether every request of the child, at every moment it is valid, is covered by some chain at no higher level. */
export function oracleWithin(
  child: readonly Grant[],
  parent: readonly (readonly Link[])[],
  delegating = false,
): OracleAnswer {
  for (const grant of child) {
    const parents = parent.flat().flatMap((link) => link.grants.filter((one) => one.verb === grant.verb));
    const axes = grant.verb.axes.map((axis, at) =>
      axisCases(
        axis,
        grant.scopes[at] as Scope,
        parents.map((one) => one.scopes[at] as Scope),
      ),
    );
    for (const combination of combinations(axes)) {
      const bits = combination.reduce((all, one) => all & one.bits, (1 << parents.length) - 1);
      const matched = new Set(parents.filter((_, index) => bits & (1 << index)));
      const failed = failure(grant, matched, parent, delegating);
      if (failed !== null)
        return { within: false, request: { verb: grant.verb, values: combination.map((one) => one.value) }, ...failed };
    }
  }
  return { within: true };
}

const SESSIONS = [true, false].flatMap((clean) => ACTING.map((acting) => [clean, acting] as const));

function failure(
  grant: Grant,
  matched: ReadonlySet<Grant>,
  parent: readonly (readonly Link[])[],
  delegating: boolean,
): { moment: NaiveMoment; purpose: Purpose } | null {
  const ends = [grant, ...matched].flatMap(({ conditions }) =>
    conditions.expires === null ? [] : [conditions.expires - 1, conditions.expires],
  );
  for (const now of [0, ...ends, Number.MAX_SAFE_INTEGER]) {
    for (const [clean, principals] of SESSIONS) {
      const moment = { now, clean, generation: 0, principals };
      if (!naiveHolds(grant.conditions, moment, null)) continue;
      for (const purpose of ["use", "pass"] as const) {
        if (delegating ? purpose === "use" : grant.conditions.pass !== "both" && grant.conditions.pass !== purpose)
          continue;
        if (!parent.some((links) => chainCovers(links, matched, moment, purpose, grant.conditions.ask)))
          return { moment, purpose };
      }
    }
  }
  return null;
}

function chainCovers(
  links: readonly Link[],
  matched: ReadonlySet<Grant>,
  moment: NaiveMoment,
  purpose: Purpose,
  level: number,
): boolean {
  const last = links.map(({ role }) => role).lastIndexOf("own");
  return links.every((link, place) => {
    const needed = link.role === "limit" ? null : place === last ? purpose : "pass";
    return link.grants.some(
      (grant) => matched.has(grant) && grant.conditions.ask <= level && naiveHolds(grant.conditions, moment, needed),
    );
  });
}

function* combinations(axes: readonly (readonly AxisCase[])[]): Generator<readonly AxisCase[]> {
  const [first, ...rest] = axes;
  if (first === undefined) yield [];
  else for (const one of first) for (const others of combinations(rest)) yield [one, ...others];
}

/** Only the hardest cases count: one that matches more parent grants than another is never needed. */
function hardest(cases: readonly AxisCase[]): readonly AxisCase[] {
  const unique = [...new Map(cases.map((one) => [one.bits, one])).values()];
  return unique.filter(
    (one) => !unique.some((other) => other.bits !== one.bits && (other.bits & one.bits) === other.bits),
  );
}

function axisCases(axis: Axis, child: Scope, parents: readonly Scope[]): readonly AxisCase[] {
  const bitsOf = (matches: (scope: Scope) => boolean): number =>
    parents.reduce((bits, scope, index) => (scope.kind === "any" || matches(scope) ? bits | (1 << index) : bits), 0);
  switch (child.kind) {
    case "any":
      return [{ bits: bitsOf(() => false), value: undefined }];
    case "words":
      return child.of.map((word) => ({
        bits: bitsOf((scope) => scope.kind === "words" && scope.of.includes(word)),
        value: word,
      }));
    case "ports":
      return hardest(
        child.of
          .flatMap(({ low, high }) =>
            Array.from({ length: high - low + 1 }, (_, at) => low + at).filter(
              (port) => port === low || at(parents, port),
            ),
          )
          .map((port) => ({
            bits: bitsOf(
              (scope) => scope.kind === "ports" && scope.of.some((range) => range.low <= port && port <= range.high),
            ),
            value: port,
          })),
      );
    case "destinations":
      return hardest(destinationCases(child, parents, bitsOf));
    case "sequences": {
      const patterns: Sequence[] = [...child.of];
      const places = parents.map((scope) =>
        scope.kind === "sequences" ? scope.of.map((pattern) => patterns.push(pattern) - 1) : [],
      );
      const found = meetings(axis.kind as SequenceKind, patterns, (1 << child.of.length) - 1, PROTECTED);
      return hardest(
        found.map(({ bits, example }) => ({
          bits: parents.reduce(
            (all, scope, index) =>
              scope.kind === "any" || (places[index] as number[]).some((place) => bits & (1 << place))
                ? all | (1 << index)
                : all,
            0,
          ),
          value: guard(axis.kind as SequenceKind, example),
        })),
      );
    }
    case "arguments":
      throw new Error("the oracle does not decide arguments");
  }
}

/** A port where some parent range begins or has just ended. */
function at(parents: readonly Scope[], port: number): boolean {
  return parents.some(
    (scope) => scope.kind === "ports" && scope.of.some(({ low, high }) => port === low || port === high + 1),
  );
}

/** The positions of a scope's names among the patterns, and its openings for one address; null if no opening is needed. */
interface Read {
  readonly names: readonly number[];
  readonly openings: readonly number[] | null;
}

function destinationCases(
  child: DestinationScope,
  parents: readonly Scope[],
  bitsOf: (matches: (scope: Scope) => boolean) => number,
): readonly AxisCase[] {
  const all = [child, ...parents.filter((scope) => scope.kind === "destinations")];
  const ranges: AddressRange[] = all.flatMap((scope) => [
    ...scope.ranges,
    ...scope.openings.map((opening) => opening.range),
  ]);
  const addresses = ([4, 6] as const).flatMap((family) =>
    naiveBoundaries(family, ranges).map((number) => addressOf(family, number)),
  );
  const cases: AxisCase[] = [];
  for (const address of addresses) {
    const reaches = (scope: DestinationScope): boolean =>
      (scope.everyPublic && !naiveSpecial(address)) || scope.ranges.some((range) => naiveOpens(range, address));
    if (reaches(child))
      cases.push({
        bits: bitsOf((scope) => scope.kind === "destinations" && reaches(scope)),
        value: { name: null, address },
      });
  }
  const unresolved = null;
  for (const address of [unresolved, ...addresses.filter(naiveSpecial)]) {
    const patterns: Sequence[] = [];
    const place = (pattern: Sequence): number => patterns.push(pattern) - 1;
    const openingsAt = (scope: DestinationScope): readonly number[] | null =>
      address === null
        ? null
        : scope.openings.filter((opening) => naiveOpens(opening.range, address)).map((opening) => place(opening.name));
    const read = (scope: Scope): Read | null =>
      scope.kind === "destinations" ? { names: scope.names.map(place), openings: openingsAt(scope) } : null;
    const own = read(child);
    const others = new Map(parents.map((scope) => [scope, read(scope)]));
    if (own === null || own.names.length === 0 || own.openings?.length === 0) continue;
    const needed = own.names.reduce((bits, one) => bits | (1 << one), 0);
    for (const { bits, example } of meetings("host", patterns, needed, [])) {
      const has = (list: readonly number[]): boolean => list.some((one) => bits & (1 << one));
      const covers = (one: Read | null | undefined): boolean =>
        one != null && has(one.names) && (one.openings === null || has(one.openings));
      if (covers(own))
        cases.push({
          bits: bitsOf((scope) => covers(others.get(scope))),
          value: { name: guard("host", example), address },
        });
    }
  }
  return cases;
}
