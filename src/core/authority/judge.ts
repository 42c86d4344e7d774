// One request against an authority: allow, ask, or deny with the code and the place where it failed.

import { isSpecial } from "../base/special.ts";
import { isDestination, isSegments, type Scope, scopeMatches } from "./axes/scope.ts";
import { verbEntry } from "./catalog.ts";
import { type Authority, type Chain, chainLevel, coverage, type LinkFault, linkState, purposeAt } from "./chain.ts";
import { type CompiledLink, conditionsHold, type Moment } from "./compiled.ts";
import { countedIsSpent } from "./counted.ts";
import type { Decision, DenialCode, Shortfall } from "./decision.ts";
import type { Grant, Level, Purpose } from "./grant.ts";
import { nearestMiss } from "./nearest-grant.ts";
import { ANY_TEXT } from "./patterns/reserved.ts";
import { type Segments, starSegments } from "./patterns/sequence.ts";
import { principalsHold } from "./principal.ts";
import type { Request } from "./request.ts";

export function judge(authority: Authority, request: Request, moment: Moment, purpose: Purpose = "use"): Decision {
  const root = writtenRoot(request);
  const also = root === null ? null : (chain: Chain): Level | -1 => writeLevel(chain, root, moment, purpose);
  const found = coverage(authority, request, moment, purpose, also);
  if (found === null) return denial(authority, request, moment, purpose);
  return found.level === 0 ? { outcome: "allow", by: found.by } : { outcome: "ask", level: found.level, by: found.by };
}

interface Failure {
  readonly code: DenialCode;
  readonly axis: Shortfall["axis"];
  readonly link: number;
}

const UNWRITABLE: Failure = { code: "scope_violation", axis: "mode", link: 0 };

/** How far a request got before it failed; the furthest chain is the one a person wants to hear about. */
const PROGRESS: Readonly<Partial<Record<DenialCode, number>>> = {
  capability_absent: 0,
  scope_violation: 1,
  address_refused: 2,
  expired: 3,
  generation_stale: 3,
  revoked: 3,
  untrusted_content: 3,
  budget_exhausted: 4,
  frozen: 5,
};

function progress(failure: Failure): number {
  return PROGRESS[failure.code] ?? 0;
}

function denial(authority: Authority, request: Request, moment: Moment, purpose: Purpose): Decision {
  let best: { readonly chain: number; readonly failure: Failure } | null = null;
  for (const [index, chain] of authority.entries()) {
    // A chain whose links all cover fails on what it must cover besides: writing its root.
    const failure = firstFailure(chain, request, moment, purpose) ?? UNWRITABLE;
    if (best === null || progress(failure) > progress(best.failure)) best = { chain: index, failure };
  }
  if (best === null) return { outcome: "deny", code: "capability_absent", at: null };
  const { code, link, axis } = best.failure;
  return { outcome: "deny", code, at: { chain: best.chain, link, axis } };
}

/** The link that lets the least through decides what a chain answers. */
function firstFailure(chain: Chain, request: Request, moment: Moment, purpose: Purpose): Failure | null {
  let worst: Failure | null = null;
  for (const [place, compiled] of chain.entries()) {
    const failure = linkFailure(compiled, place, request, moment, purposeAt(chain, place, purpose));
    if (failure !== null && (worst === null || progress(failure) < progress(worst))) worst = failure;
  }
  return worst;
}

function linkFailure(
  compiled: CompiledLink,
  place: number,
  request: Request,
  moment: Moment,
  purpose: Purpose | null,
): Failure | null {
  const fault: LinkFault | null = linkState(compiled, moment);
  const fail = (code: DenialCode, axis: Shortfall["axis"] = null): Failure => ({ code, axis, link: place });
  const { grants, validity } = compiled.link;
  // Valid in no generation at all: it grants nothing, now or later.
  if (validity.generations?.length === 0) return fail("capability_absent");
  if (compiled.grantsOf(request.verb).length === 0) return fail("capability_absent");
  const matching = compiled.matching(request);
  if (matching.length === 0) {
    const nearest = nearestMiss(compiled, request);
    const axis = nearest === null ? null : nearest.axis;
    return fail(onlyTheAddress(compiled, request) ? "address_refused" : "scope_violation", axis);
  }
  if (fault !== null) return fail(fault);
  const holding = matching.filter((index) => conditionsHold(grants[index] as Grant, moment, purpose));
  if (holding.length === 0) return fail(...conditionFailure(grants[matching[0] as number] as Grant, moment));
  const open = holding.some((index) => moment.exhausted?.(compiled.link.id, index) !== true);
  return open ? null : fail("budget_exhausted");
}

function conditionFailure(grant: Grant, moment: Moment): [DenialCode, Shortfall["axis"]] {
  const { expires, principals, clean } = grant.conditions;
  if (expires !== null && moment.now >= expires) return ["expired", null];
  if (!principalsHold(principals, moment.principals ?? [])) return ["scope_violation", "users"];
  return clean && !moment.clean ? ["untrusted_content", "clean"] : ["scope_violation", "pass"];
}

/** Would some grant cover, if it were not for where the name leads, or for a literal address being special? */
function onlyTheAddress(compiled: CompiledLink, request: Request): boolean {
  const axis = request.verb.axes.findIndex((one) => one.kind === "destination");
  const value = request.values[axis];
  if (!isDestination(value) || value.address === null) return false;
  const { name, address } = value;
  if (name !== null) {
    const values = request.values.map((one, at) => (at === axis ? { name, address: null } : one));
    return compiled.matching({ verb: request.verb, values }).length > 0;
  }
  return compiled.grantsOf(request.verb).some((index) => {
    const { scopes } = compiled.link.grants[index] as Grant;
    const host = scopes[axis] as Scope;
    if (host.kind !== "destinations" || !host.everyPublic || !isSpecial(address)) return false;
    return scopes.every((scope, at) => at === axis || scopeMatches(scope, request.values[at]));
  });
}

const WRITE = verbEntry("fs.write");

/** The root a request wants to write in; null for a request that does not. */
export function writtenRoot({ verb, values }: Request): Segments | null {
  const mode = verb.axes.findIndex((axis) => axis.name === "mode");
  const root = values[verb.axes.findIndex((axis) => axis.name === "root")];
  const isWritten = values[mode] === "rw" || values[mode] === "live";
  return mode >= 0 && isWritten && isSegments(root) ? root : null;
}

/**
 * The level at which the chain covers writing the whole tree, or -1. As in `witness.ts`, unknown names stand for all.
 * INVARIANT: the root keeps its guards: a tree in a protected path is written only where a grant names that path.
 */
export function writeLevel(chain: Chain, root: Segments, moment: Moment, purpose: Purpose): Level | -1 {
  if (WRITE === null) return -1;
  let stars = 0;
  for (const compiled of chain) {
    for (const index of compiled.grantsOf(WRITE)) {
      const scope = (compiled.link.grants[index] as Grant).scopes[0];
      if (scope?.kind === "sequences") for (const pattern of scope.of) stars = Math.max(stars, starSegments(pattern));
    }
  }
  // Writes of a process are not charged: a counted grant does not make a whole tree writable.
  const uncounted = { ...moment, exhausted: countedIsSpent([chain]) };
  let level: Level = 0;
  for (let copies = 0; copies <= stars + 1; copies++) {
    const unknown = new Array<string>(copies).fill(ANY_TEXT);
    const guarded = root.guarded === null ? null : [...root.guarded, ...unknown.map(() => false)];
    const value = { segments: [...root.segments, ...unknown], guarded };
    const one = chainLevel(chain, { verb: WRITE, values: [value] }, uncounted, purpose);
    if (one < 0) return -1;
    if (one > level) level = one as Level;
  }
  return level;
}
