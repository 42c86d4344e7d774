import { tree } from "../../src/core/authority/axes/path.ts";
import { ANY, type Scope, type Value } from "../../src/core/authority/axes/scope.ts";
import type { Conditions, Grant } from "../../src/core/authority/grant.ts";
import type { Link } from "../../src/core/authority/link.ts";
import { DEEP, ONE } from "../../src/core/authority/patterns/segment.ts";
import type { Sequence } from "../../src/core/authority/patterns/sequence.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { CORE, type Implementation, type Links, single } from "./implementation.ts";

function withLevel(change: (grant: Grant) => Grant): Implementation {
  const changed = (links: Links): Links =>
    links.map((link) => ({ ...link, grants: link.grants.map(change) })) as unknown as Links;
  return {
    ...CORE,
    level: (authority, request, moment, purpose) => CORE.level(authority.map(changed), request, moment, purpose),
  };
}

function withConditions(
  child: (conditions: Conditions) => Conditions,
  parent: (conditions: Conditions) => Conditions,
): Implementation {
  const change = (list: readonly Grant[], how: (conditions: Conditions) => Conditions): readonly Grant[] =>
    list.map((grant) => ({ ...grant, conditions: how(grant.conditions) }));
  const links = (all: Links): Links =>
    all.map((link) => ({ ...link, grants: change(link.grants, parent) })) as unknown as Links;
  return {
    ...CORE,
    within: (list, above, delegating) => CORE.within(change(list, child), above.map(links), delegating),
  };
}

const same = (conditions: Conditions): Conditions => conditions;

export const ignoresClean: Implementation = withConditions((conditions) => ({ ...conditions, clean: true }), same);
export const ignoresExpiry: Implementation = withConditions((conditions) => ({ ...conditions, expires: -1_000 }), same);
export const ignoresUsers: Implementation = withConditions(same, (conditions) => ({ ...conditions, principals: null }));
export const ignoresAsk: Implementation = withConditions((conditions) => ({ ...conditions, ask: 2 }), same);
export const ignoresPass: Implementation = withConditions(same, (conditions) => ({ ...conditions, pass: "both" }));

/** A star matches guarded segments too. */
export const starTakesGuarded: Implementation = {
  ...CORE,
  level: (authority, request, moment, purpose) =>
    CORE.level(authority, { ...request, values: request.values.map(unguarded) }, moment, purpose),
};

function unguarded(value: Value): Value {
  return typeof value === "object" && "segments" in value ? { ...value, guarded: null } : value;
}

export const ignoresSecondAxis: Implementation = withLevel((grant) => ({
  ...grant,
  scopes: grant.scopes.map((scope, axis) => (axis === 1 ? ANY : scope)),
}));

/** `*.x` without x itself. */
export const apexExcluded: Implementation = withLevel((grant) => ({ ...grant, scopes: grant.scopes.map(withoutApex) }));

function withoutApex(scope: Scope): Scope {
  if (scope.kind !== "destinations") return scope;
  const below = (name: Sequence): Sequence =>
    name.length > 1 && name.at(-1)?.kind === "deep" && name.at(-2)?.kind === "literal"
      ? [...name.slice(0, -1), ONE, DEEP]
      : name;
  return { ...scope, names: scope.names.map(below) };
}

/** Cross-multiplies two grants of one verb: the scopes of one with the scopes of another. */
export const merges: Implementation = {
  ...CORE,
  level(authority, request, moment, purpose) {
    const merged = (link: Link): Link => ({
      ...link,
      grants: link.grants.flatMap((one) =>
        link.grants
          .filter((other) => other.verb === one.verb)
          .map((other) => ({
            ...one,
            scopes: one.scopes.map((scope, axis) => (axis === 0 ? scope : (other.scopes[axis] as Scope))),
          })),
      ),
    });
    return CORE.level(
      authority.map((links) => links.map(merged) as unknown as Links),
      request,
      moment,
      purpose,
    );
  },
};

/** The index omits the grants that do not limit the indexed axis. */
export const indexWithoutAlways: Implementation = {
  ...CORE,
  level(authority, request, moment, purpose) {
    const kept = (link: Link): Link => {
      const limits = (grant: Grant): boolean => grant.scopes[0] === undefined || grant.scopes[0].kind !== "any";
      return link.grants.length < 16 ? link : { ...link, grants: link.grants.filter(limits) };
    };
    return CORE.level(
      authority.map((links) => links.map(kept) as unknown as Links),
      request,
      moment,
      purpose,
    );
  },
};

/** The first grant that covers decides, not the least demanding. */
export const firstCovers: Implementation = {
  ...CORE,
  level(authority, request, moment, purpose) {
    if (CORE.level(authority, request, moment, purpose) === null) return null;
    const [link] = authority[0] as Links;
    const found = link.grants.find(
      (grant) => CORE.level(single([grant]), request, { ...moment, revoked: null }, purpose) !== null,
    );
    return found?.conditions.ask ?? null;
  },
};

/** The last link alone decides. */
export const lastLinkOnly: Implementation = {
  ...CORE,
  level: (authority, request, moment, purpose) =>
    CORE.level(
      authority.map((links) => [links.at(-1) as Link] as const),
      request,
      moment,
      purpose,
    ),
};

/** Only the last link's revocation and expiry count. */
export const ancestorsNeverEnd: Implementation = {
  ...CORE,
  level(authority, request, moment, purpose) {
    const last = new Set(authority.map((links) => links.at(-1)?.id));
    const revoked =
      moment.revoked === null ? null : (id: string): boolean => last.has(id) && moment.revoked?.(id) === true;
    return CORE.level(authority, request, { ...moment, revoked }, purpose);
  },
};

/** Along a chain the least demanding level wins. */
export const mildestWins: Implementation = {
  ...CORE,
  level(authority, request, moment, purpose) {
    const all = CORE.level(authority, request, moment, purpose);
    if (all === null) return null;
    const last = CORE.level(
      authority.map((links) => [links.at(-1) as Link] as const),
      request,
      moment,
      purpose,
    );
    return last === null ? all : Math.min(all, last);
  },
};

/** Several chains together cover what no one of them does. */
export const chainsTogether: Implementation = {
  ...CORE,
  level(authority, request, moment, purpose) {
    const [first, ...rest] = authority;
    if (first === undefined) return null;
    const joined = first.map((link, place) => ({
      ...link,
      grants: [...link.grants, ...rest.flatMap((links) => links[place]?.grants ?? [])],
    }));
    return CORE.level([joined as unknown as Links], request, moment, purpose);
  },
};

/** A meet with the weaker of two conditions. */
export const anyOfMeet: Implementation = {
  ...CORE,
  meet(left, right) {
    const grants = left.flatMap((one) =>
      right.flatMap((other) =>
        CORE.meet([one], [other]).grants.map((grant) => ({
          ...grant,
          conditions: {
            ...grant.conditions,
            ask: Math.min(one.conditions.ask, other.conditions.ask) as Conditions["ask"],
            clean: one.conditions.clean && other.conditions.clean,
          },
        })),
      ),
    );
    return { grants, complete: true };
  },
};

/** A meet of only the first with the first and the second with the second. */
export const pairwiseMeet: Implementation = {
  ...CORE,
  meet: (left, right) => ({
    grants: left.flatMap((one, at) => CORE.meet([one], right.slice(at, at + 1)).grants),
    complete: true,
  }),
};

/** A meet that takes the second axis from the left side. */
export const meetOfOneAxis: Implementation = {
  ...CORE,
  meet(left, right) {
    const opened = right.map((grant) => ({
      ...grant,
      scopes: grant.scopes.map((scope, axis) => (axis === 1 ? ANY : scope)),
    }));
    return CORE.meet(left, opened);
  },
};

/** `within` that ignores the parent's last grant. */
export const dropsLast: Implementation = {
  ...CORE,
  within: (child, parent, delegating) =>
    CORE.within(
      child,
      parent.map((links) => links.map((link) => ({ ...link, grants: link.grants.slice(0, -1) })) as unknown as Links),
      delegating,
    ),
};

/** `within` that treats the parent's second axis as unlimited. */
export const containsOneAxis: Implementation = {
  ...CORE,
  within(child, parent, delegating) {
    const open = (grant: Grant): Grant => ({
      ...grant,
      scopes: grant.scopes.map((scope, axis) => (axis === 1 ? ANY : scope)),
    });
    return CORE.within(
      child,
      parent.map((links) => links.map((link) => ({ ...link, grants: link.grants.map(open) })) as unknown as Links),
      delegating,
    );
  },
};

/** `within` that checks the child's first grant only. */
export const firstOnly: Implementation = {
  ...CORE,
  within: (child, parent, delegating) => CORE.within(child.slice(0, 1), parent, delegating),
};

/** Each grant must be in one grant of the parent: sound, but blind to unions. */
export const perGrant: Implementation = {
  ...CORE,
  within(child, parent, delegating) {
    for (const [index, grant] of child.entries()) {
      const inOne = parent.some((links) =>
        links.every((link) =>
          link.grants.some((one) => CORE.within([grant], [[{ ...link, grants: [one] }]], delegating).kind === "within"),
        ),
      );
      const request: Request = { verb: grant.verb, values: grant.verb.axes.map(() => undefined) };
      if (!inOne) return { kind: "exceeds", grant: index, request, because: "request" };
    }
    return { kind: "within" };
  },
};

/** A counterexample that is only nearly right: the right verb, but no values. */
export const vagueCounterexample: Implementation = {
  ...CORE,
  within(child, parent, delegating) {
    const found = CORE.within(child, parent, delegating);
    return found.kind === "exceeds"
      ? { ...found, request: { ...found.request, values: found.request.values.map(() => undefined) } }
      : found;
  },
};

/** Suggests the folder instead of the file, and any port. */
export const suggestsMore: Implementation = {
  ...CORE,
  suggest(request) {
    const grant = CORE.suggest(request);
    if (grant === null) return null;
    return {
      ...grant,
      scopes: grant.scopes.map((scope, axis) => {
        const value = request.values[axis];
        if (scope.kind === "ports") return ANY;
        return scope.kind === "sequences" && typeof value === "object" && "segments" in value
          ? { kind: "sequences", of: [tree(value.segments.slice(0, -1))] }
          : scope;
      }),
    };
  },
};
