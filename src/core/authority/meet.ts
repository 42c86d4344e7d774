// The meet written out: what all links of a chain allow, as one list of grants. Only for showing it, and for
// compiling it for the kernel; decisions always walk the chain itself.

import { grantsMax } from "../base/limits.ts";
import { type ArgumentsScope, placeText } from "./axes/constraint.ts";
import { meetDestinations } from "./axes/meet-destination.ts";
import { guardPath, type PathSettings } from "./axes/path.ts";
import { isNothing, type PortRange, type Scope } from "./axes/scope.ts";
import type { Authority, Chain } from "./chain.ts";
import { type Conditions, type Grant, isCounted, type Level, type Pass, type Rate } from "./grant.ts";
import type { Validity } from "./link.ts";
import { meetPatterns } from "./patterns/intersect.ts";
import { literal } from "./patterns/segment.ts";
import type { Sequence } from "./patterns/sequence.ts";
import { meetPrincipals } from "./principal.ts";

export interface Meet {
  readonly grants: readonly Grant[];
  /** False when something was too large to be written out, or has no spelling, and was left out: the list is then narrower. */
  readonly complete: boolean;
}

/** A chain's meet holds only while all its links do, and may be used as often as the most limited of them. */
export interface ChainMeet extends Meet {
  readonly validity: Validity;
  readonly calls: number | null;
}

/** The whole chain for use by its last holder: earlier owners only have to have passed it on. */
export function meetChain(chain: Chain): ChainMeet {
  const own = chain.findLastIndex((compiled) => compiled.link.role === "own");
  const lists = chain.map(({ link }, place) =>
    link.grants.flatMap((grant) => {
      const expires = smaller(grant.conditions.expires, link.validity.expires);
      if (link.role === "own" && place === Math.max(own, 0))
        return [{ ...grant, conditions: { ...grant.conditions, expires } }];
      if (link.role === "own" && grant.conditions.pass === "use") return [];
      return [{ ...grant, conditions: { ...grant.conditions, expires, pass: "both" as const } }];
    }),
  );
  let meet: Meet = { grants: lists[0] as readonly Grant[], complete: true };
  for (const list of lists.slice(1)) {
    const next = meetGrants(meet.grants, list);
    meet = { grants: next.grants, complete: meet.complete && next.complete };
  }
  const links = chain.map(({ link }) => link);
  const calls = links.reduce<number | null>((least, link) => smaller(least, link.calls), null);
  return { ...meet, validity: links.map((link) => link.validity).reduce(meetValidity), calls };
}

/**
 * Each grant as far as the ceilings around it cover it. Texts as they were trusted are no ceilings: what waits for trust is told as
 * that. Where a meet cannot be written out, or there are too many to compare, the grant stays as it is.
 */
export function limitedGrants(
  grants: readonly Grant[],
  authority: Authority,
  /** How many are compared altogether, where they come one by one. */
  total: number = grants.length,
): readonly Grant[] {
  const limits = (authority[0] ?? []).filter(({ link }) => link.role === "limit" && link.version === undefined);
  return limits.reduce<readonly Grant[]>((held, { link }) => {
    if (total * link.grants.length > limitedPairsMax) return held;
    return held.flatMap((grant) => {
      if (grant.scopes.some(isNothing)) return [grant];
      const { grants: met, complete } = meetGrants([grant], link.grants);
      return complete ? met : [grant];
    });
  }, grants);
}

const limitedPairsMax = 250_000;

/**
 * The grant as it reads while these paths are protected: a name that met a star is that name again, unless it leads to one of them.
 * For showing alone. Written into a record it would also hold for a path that is protected later.
 */
export function shownGrant(grant: Grant, protectedPaths: PathSettings["protectedPaths"]): Grant {
  const scopes = grant.scopes.map((scope, at): Scope => {
    if (grant.verb.axes[at]?.kind !== "path" || scope.kind !== "sequences") return scope;
    return { ...scope, of: scope.of.map((pattern) => plainNames(pattern, protectedPaths)) };
  });
  return { ...grant, scopes };
}

function plainNames(pattern: Sequence, protectedPaths: PathSettings["protectedPaths"]): Sequence {
  const names = pattern.map((segment) =>
    segment.kind === "literal"
      ? segment.text
      : segment.kind === "glob" && segment.parts.length === 1
        ? segment.parts[0]
        : null,
  );
  const end = names.indexOf(null);
  const leading = names.slice(0, end < 0 ? names.length : end) as readonly string[];
  const { guarded } = guardPath(leading, protectedPaths);
  return pattern.map((segment, at) =>
    at < leading.length && guarded?.[at] !== true ? literal(leading[at] as string) : segment,
  );
}

function meetValidity(left: Validity, right: Validity): Validity {
  const { generations } = left;
  const later = Math.max(left.notBefore ?? Number.NEGATIVE_INFINITY, right.notBefore ?? Number.NEGATIVE_INFINITY);
  return {
    notBefore: left.notBefore === null && right.notBefore === null ? null : later,
    expires: smaller(left.expires, right.expires),
    generations: generations?.filter((one) => right.generations?.includes(one) ?? true) ?? right.generations,
  };
}

export function meetGrants(left: readonly Grant[], right: readonly Grant[]): Meet {
  const grants: Grant[] = [];
  let complete = true;
  for (const one of left) {
    for (const other of right) {
      if (one.verb !== other.verb) continue;
      const met = grants.length < grantsMax ? meetTwo(one, other) : "too_many";
      const users = meetPrincipals(one.conditions.principals, other.conditions.principals);
      if (met === "too_many" || (met !== null && !users.complete)) complete = false;
      if (met === "too_many") continue;
      if (met !== null && users.of?.length !== 0) grants.push(met);
    }
  }
  return { grants, complete };
}

function meetTwo(left: Grant, right: Grant): Grant | null | "too_many" {
  const scopes: Scope[] = [];
  for (const [axis, scope] of left.scopes.entries()) {
    const kind = left.verb.axes[axis]?.kind;
    const met = meetScopes(scope, right.scopes[axis] as Scope, kind === "path" || kind === "argv");
    if (met === null) return "too_many";
    if (isNothing(met)) return null;
    scopes.push(met);
  }
  const conditions = meetConditions(left.conditions, right.conditions);
  if (conditions === null) return null;
  return {
    verb: left.verb,
    scopes,
    conditions,
    root: deeper(left.root, right.root),
    span: left.span ?? right.span,
    implied: left.implied,
  };
}

/** The longer of two roots, which lies in the shorter one wherever the meet is not empty. */
function deeper(left: Grant["root"], right: Grant["root"]): Grant["root"] {
  if (left === null || right === null) return left ?? right;
  return left.length >= right.length ? left : right;
}

/** Null: too large to write out. */
export function meetScopes(left: Scope, right: Scope, guards: boolean): Scope | null {
  if (left.kind === "any") return right;
  if (right.kind === "any") return left;
  switch (left.kind) {
    case "sequences": {
      if (right.kind !== "sequences") return { kind: "sequences", of: [] };
      const of = meetPatterns(left.of, right.of, guards);
      return of === null ? null : { kind: "sequences", of };
    }
    case "destinations":
      return right.kind === "destinations" ? meetDestinations(left, right) : { kind: "sequences", of: [] };
    case "ports":
      return {
        kind: "ports",
        of: right.kind === "ports" ? left.of.flatMap((one) => right.of.flatMap((other) => meetPorts(one, other))) : [],
      };
    case "words":
      return { kind: "words", of: right.kind === "words" ? left.of.filter((word) => right.of.includes(word)) : [] };
    case "arguments":
      return right.kind === "arguments" ? meetArguments(left, right) : { kind: "sequences", of: [] };
  }
}

function meetPorts(left: PortRange, right: PortRange): PortRange[] {
  const low = Math.max(left.low, right.low);
  const high = Math.min(left.high, right.high);
  return low <= high ? [{ low, high }] : [];
}

/** Both lists of constraints must hold. Where unnamed arguments are refused, a constraint on one can never hold. */
function meetArguments(left: ArgumentsScope, right: ArgumentsScope): Scope {
  const places = (scope: ArgumentsScope): readonly string[] =>
    scope.constrained.map((argument) => placeText(argument.at));
  const clash = (one: ArgumentsScope, other: ArgumentsScope): boolean =>
    one.only && places(other).some((place) => !places(one).includes(place));
  if (clash(left, right) || clash(right, left)) return { kind: "sequences", of: [] };
  const seen = new Set(
    left.constrained.map((argument) => placeText(argument.at) + JSON.stringify(argument.constraint, plain)),
  );
  const added = right.constrained.filter(
    (argument) => !seen.has(placeText(argument.at) + JSON.stringify(argument.constraint, plain)),
  );
  return { kind: "arguments", constrained: [...left.constrained, ...added], only: left.only || right.only };
}

function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

export function meetConditions(left: Conditions, right: Conditions): Conditions | null {
  const pass = meetPass(left.pass, right.pass);
  if (pass === null) return null;
  return {
    ask: Math.max(left.ask, right.ask) as Level,
    calls: smaller(left.calls, right.calls),
    rate: slower(left.rate, right.rate),
    tokens: smaller(left.tokens, right.tokens),
    money: smaller(left.money, right.money),
    // Counted for all together where one of the two is.
    per: left.per === right.per ? left.per : isCounted(left) && isCounted(right) ? null : (left.per ?? right.per),
    expires: smaller(left.expires, right.expires),
    principals: meetPrincipals(left.principals, right.principals).of,
    pass,
    clean: left.clean || right.clean,
  };
}

function meetPass(left: Pass, right: Pass): Pass | null {
  if (left === "both") return right;
  return right === "both" || right === left ? left : null;
}

function smaller(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}

function slower(left: Rate | null, right: Rate | null): Rate | null {
  if (left === null || right === null) return left ?? right;
  return left.calls / left.seconds <= right.calls / right.seconds ? left : right;
}
