// Why: link by link, the grant that decided or came nearest, and the smallest grant that would allow the request.

import { isLoopback, isSpecial } from "../base/special.ts";
import { isDestination, isSegments } from "./axes/scope.ts";
import type { AxisName } from "./catalog.ts";
import { type Authority, type Chain, lastOwn, purposeAt } from "./chain.ts";
import { grantMatches, type Moment } from "./compiled.ts";
import type { Decision, DenialCode } from "./decision.ts";
import { type Grant, isCounted, UNCONDITIONAL } from "./grant.ts";
import { writtenRoot } from "./judge.ts";
import { meetGrants } from "./meet.ts";
import { nearestGrant } from "./nearest-grant.ts";
import type { Request } from "./request.ts";
import { suggestGrant, suggestRoot } from "./suggest.ts";

export interface LinkExplanation {
  readonly link: string;
  readonly covers: boolean;
  /** Deciding grant where the link covers, else the nearest of the same verb, if any. */
  readonly grant: number | null;
  /** The axis the nearest grant falls short on. */
  readonly axis: AxisName | null;
}

export interface Explanation {
  readonly links: readonly LinkExplanation[];
  /** Null for what is allowed, and where no grant would help (validity, budgets, outside the root). */
  readonly suggest: Grant | null;
  /** A ceiling, a user's record or a pledge that does not cover: no grant in the agent's record would help. */
  readonly limit: string | null;
  /** A grant would help, but none that is written below the root reaches so far. */
  readonly isOutside: boolean;
  /** The request names an address of a private network or of the machine's provider: a person writes such a grant, we propose none. */
  readonly isSpecial: boolean;
}

/** Explains the chain the decision speaks of. Made on demand, never while deciding. `root`: what every grant of its text is held to. */
export function explain(
  authority: Authority,
  request: Request,
  moment: Moment,
  decision: Decision,
  root: readonly string[] | null = null,
): Explanation {
  const index = decision.outcome === "deny" ? (decision.at?.chain ?? 0) : decision.by.chain;
  const chain = authority[index] as Chain | undefined;
  const links = (chain ?? []).map((compiled, place): LinkExplanation => {
    const found = compiled.covers(request, moment, purposeAt(chain as Chain, place, "use"));
    if (found >= 0) return { link: compiled.link.id, covers: true, grant: found, axis: null };
    const nearest = nearestGrant(compiled, request);
    return { link: compiled.link.id, covers: false, grant: nearest?.grant ?? null, axis: nearest?.axis ?? null };
  });
  const helps = decision.outcome === "deny" && isHelpedByGrant(decision.code);
  const proposed = helps && isWritable(request) ? suggestion(request, decision, links) : null;
  const limit = decision.outcome === "deny" ? limitOf(chain, links) : null;
  const isHelpless = limit !== null || isPolicyChange(request);
  const suggest = proposed === null || isHelpless || isSafeguarded(authority, request, proposed) ? null : proposed;
  const isOutside = suggest !== null && liesOutside(request, root);
  const isSpecial = suggest !== null && hasSpecialAddress(request);
  return { links, suggest: isOutside || isSpecial ? null : suggest, limit, isOutside, isSpecial };
}

/** Loopback is not meant: a port of one's own is an everyday grant, and opens nothing else. */
function hasSpecialAddress({ values }: Request): boolean {
  return values.some(
    (value) => isDestination(value) && value.address !== null && isSpecial(value.address) && !isLoopback(value.address),
  );
}

/** Limits apply to every chain alike. A text as it was trusted is none: an edit of it by a person is trusted with it. */
function limitOf(chain: Chain | undefined, links: readonly LinkExplanation[]): string | null {
  const at = links.findIndex(({ covers }, place) => {
    const link = chain?.[place]?.link;
    return !covers && link?.role === "limit" && link.version === undefined;
  });
  return at < 0 ? null : (links[at]?.link ?? null);
}

/** Tools never change policy files, whatever is granted. */
export function isPolicyChange({ verb, values }: Request): boolean {
  if (verb.verb !== "fs.write" && verb.verb !== "fs.delete") return false;
  const path = values[verb.axes.findIndex(({ kind }) => kind === "path")];
  return isSegments(path) && path.segments.includes(".ambit");
}

/** Files and programs alone have a root. */
function liesOutside({ verb, values }: Request, root: readonly string[] | null): boolean {
  const at = verb.axes.findIndex(({ kind }) => kind === "path");
  const place = at < 0 ? undefined : values[at];
  if (root === null || place === undefined || !isSegments(place)) return false;
  return root.some((segment, depth) => place.segments[depth] !== segment);
}

/** What would help: leave to write where only that is missing, else the request itself. */
function suggestion(request: Request, decision: Decision, links: readonly LinkExplanation[]): Grant | null {
  const root = writtenRoot(request);
  const isUnwritable =
    decision.outcome === "deny" && decision.at?.axis === "mode" && root !== null && links.every(({ covers }) => covers);
  const grant = isUnwritable ? suggestRoot(root.segments) : suggestGrant(request);
  return grant !== null && (isUnwritable || grantMatches(grant, request.values)) ? grant : null;
}

/** A path with a star in its name cannot be written as itself: as a pattern it would say more. */
function isWritable({ verb, values }: Request): boolean {
  return verb.axes.every(({ kind }, at) => {
    const value = values[at];
    return kind !== "path" || !isSegments(value) || !value.segments.some((segment) => UNWRITABLE.test(segment));
  });
}

/** What a path pattern reads as something else, or refuses. */
const UNWRITABLE = /[*?[\]{}]|[@+!]\(/;

/**
 * Whether the request is held already, or a part of what is proposed is held under a condition: an approval, a budget, an end, users,
 * `clean`, or pass-on alone. The same grant without the condition would take that safeguard away.
 */
function isSafeguarded(authority: Authority, request: Request, proposed: Grant): boolean {
  return authority.some((chain) =>
    chain.some(({ link }, place) => {
      if (link.role === "limit") return false;
      const isHolders = place === lastOwn(chain) && proposed.verb === request.verb;
      return link.grants.some((grant) => {
        if (grant.verb !== proposed.verb) return false;
        if (isHolders && grantMatches(grant, request.values)) return true;
        return isConditional(grant) && overlap(grant, proposed);
      });
    }),
  );
}

function isConditional({ conditions }: Grant): boolean {
  const { ask, expires, principals, pass, clean } = conditions;
  if (expires !== null || principals !== null || clean) return true;
  return ask > 0 || isCounted(conditions) || pass !== "both";
}

/** True as well where that cannot be written out. */
function overlap(left: Grant, right: Grant): boolean {
  const plain = (grant: Grant): Grant => ({ ...grant, conditions: UNCONDITIONAL });
  const { grants, complete } = meetGrants([plain(left)], [plain(right)]);
  return grants.length > 0 || !complete;
}

const HELPED_BY_A_GRANT: readonly DenialCode[] = ["capability_absent", "scope_violation", "address_refused"];

/** For every other denial a grant would not help, or would be given in place of a safeguard. */
export function isHelpedByGrant(code: DenialCode): boolean {
  return HELPED_BY_A_GRANT.includes(code);
}
