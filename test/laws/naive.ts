// The reference evaluator: slow, plain, and independent of the core, with which it shares only the data types.

import type { Destination, DestinationScope } from "../../src/core/authority/axes/destination.ts";
import type { Scope, Value } from "../../src/core/authority/axes/scope.ts";
import type { AxisKind } from "../../src/core/authority/catalog.ts";
import type { Conditions, Grant, Purpose } from "../../src/core/authority/grant.ts";
import type { Link } from "../../src/core/authority/link.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { PROTECTED } from "./alphabet.ts";
import { naiveOpens, naiveSpecial } from "./naive-address.ts";
import { naiveArguments } from "./naive-arguments.ts";
import { naiveArgvGuards, naivePathGuards, naiveSequence } from "./naive-text.ts";

export function naiveDestination(scope: DestinationScope, value: Destination): boolean {
  const { name, address } = value;
  if (name === null)
    return (scope.everyPublic && !naiveSpecial(address)) || scope.ranges.some((range) => naiveOpens(range, address));
  const plain = name.segments.map(() => false);
  if (!scope.names.some((pattern) => naiveSequence(pattern, name.segments, plain))) return false;
  if (address === null || !naiveSpecial(address)) return true;
  return scope.openings.some(
    (opening) => naiveSequence(opening.name, name.segments, plain) && naiveOpens(opening.range, address),
  );
}

/** Computes the guards again from the bare segments, whatever the value says about them. */
export function naiveGuards(kind: AxisKind, segments: readonly string[]): readonly boolean[] {
  if (kind === "path") return naivePathGuards(segments, PROTECTED);
  return kind === "argv" ? naiveArgvGuards(segments) : segments.map(() => false);
}

export function naiveScope(scope: Scope, kind: AxisKind, value: Value): boolean {
  if (scope.kind === "any") return true;
  if (value === undefined) return false;
  switch (scope.kind) {
    case "sequences": {
      if (typeof value !== "object" || !("segments" in value)) return false;
      const guards = naiveGuards(kind, value.segments);
      return scope.of.some((pattern) => naiveSequence(pattern, value.segments, guards));
    }
    case "destinations":
      return typeof value === "object" && "address" in value && naiveDestination(scope, value);
    case "ports":
      return scope.of.some(({ low, high }) => typeof value === "number" && low <= value && value <= high);
    case "words":
      return scope.of.some((word) => word === value);
    case "arguments":
      if (typeof value !== "object" || !("kind" in value)) return false;
      if (value.kind !== "json") throw new Error("the reference decides concrete arguments only");
      return naiveArguments(scope, value.value);
  }
}

export function naiveGrant(grant: Grant, request: Request): boolean {
  return (
    grant.verb === request.verb &&
    grant.verb.axes.every((axis, at) => naiveScope(grant.scopes[at] as Scope, axis.kind, request.values[at]))
  );
}

export interface NaiveMoment {
  readonly now: number;
  readonly clean: boolean;
  readonly generation: number;
  readonly principals?: readonly string[];
}

function naiveUsers({ principals }: Conditions, { principals: acting = [] }: NaiveMoment): boolean {
  if (principals === null) return true;
  const [user] = acting.filter((one) => one.startsWith("user:"));
  return principals.some((one) => (one === "user:*" ? user !== undefined : acting.some((other) => other === one)));
}

export function naiveHolds(conditions: Conditions, moment: NaiveMoment, purpose: Purpose | null): boolean {
  if (conditions.expires !== null && conditions.expires <= moment.now) return false;
  if (conditions.clean && !moment.clean) return false;
  if (!naiveUsers(conditions, moment)) return false;
  return purpose === null || conditions.pass === "both" || conditions.pass === purpose;
}

/** The least level at which some grant covers, or null. */
export function naiveLevel(
  list: readonly Grant[],
  request: Request,
  moment: NaiveMoment,
  purpose: Purpose | null,
): number | null {
  let least: number | null = null;
  for (const grant of list) {
    if (!naiveHolds(grant.conditions, moment, purpose) || !naiveGrant(grant, request)) continue;
    if (least === null || grant.conditions.ask < least) least = grant.conditions.ask;
  }
  return least;
}

export function naiveValid({ validity }: Link, moment: NaiveMoment): boolean {
  const { notBefore, expires, generations } = validity;
  if (notBefore !== null && moment.now < notBefore) return false;
  if (expires !== null && expires <= moment.now) return false;
  return generations === null || generations.some((one) => one === moment.generation);
}

/** Every link covers; the strictest wins. A call uses the last own link, all earlier own links must have passed it on. */
export function naiveChain(
  links: readonly Link[],
  request: Request,
  moment: NaiveMoment,
  purpose: Purpose,
): number | null {
  const owns = links.map((link, place) => (link.role === "own" ? place : -1));
  const last = Math.max(...owns);
  let strictest = 0;
  for (const [place, link] of links.entries()) {
    if (!naiveValid(link, moment)) return null;
    const needed = link.role === "limit" ? null : place === last ? purpose : "pass";
    const level = naiveLevel(link.grants, request, moment, needed);
    if (level === null) return null;
    strictest = Math.max(strictest, level);
  }
  return strictest;
}

/** The least demanding of several chains. */
export function naiveJudge(
  authority: readonly (readonly Link[])[],
  request: Request,
  moment: NaiveMoment,
  purpose: Purpose,
): number | null {
  const levels = authority
    .map((links) => naiveChain(links, request, moment, purpose))
    .filter((level) => level !== null);
  return levels.length === 0 ? null : Math.min(...levels);
}
