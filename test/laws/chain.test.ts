// Laws 7, 13, 14 and 15: a chain is the meet of its links, never more than any ancestor, and every narrowing edit narrows.
import { describe, expect, test, vi } from "vitest";
import type { Moment } from "../../src/core/authority/compiled.ts";
import type { Grant, Purpose } from "../../src/core/authority/grant.ts";
import type { Link } from "../../src/core/authority/link.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { chain, grants, linkOf, moment, VERBS } from "./arbitraries.ts";
import { CORE, type Implementation, type Links, single } from "./implementation.ts";
import { casesReached, casesWanted, caught, findViolation, LAW_TIMEOUT, type Law, printValue, shrunk } from "./law.ts";
import {
  ancestorsNeverEnd,
  anyOfMeet,
  chainsTogether,
  dropsLast,
  ignoresPass,
  lastLinkOnly,
  mildestWins,
} from "./mutants.ts";
import { naiveJudge } from "./naive.ts";
import { requestNear } from "./requests.ts";
import { chance, oneOf, type Source } from "./source.ts";
import { widenGrant } from "./widen.ts";

vi.setConfig({ testTimeout: LAW_TIMEOUT });

interface Case {
  readonly authority: readonly Links[];
  readonly request: Request;
  readonly moment: Moment;
  readonly purpose: Purpose;
}

function linksOf(source: Source, verb = oneOf(source, VERBS), most = 4): Links {
  const made = chain(source, verb, most).map(({ link }) => link);
  const [first, ...rest] = made as unknown as Links;
  // A later link that is a wider copy of the first keeps long chains from being empty.
  return [
    first,
    ...rest.map((link) =>
      chance(source, 50) ? { ...link, grants: first.grants.map((each) => widenGrant(source, each)) } : link,
    ),
  ];
}

function someCase(source: Source): Case {
  const verb = oneOf(source, VERBS);
  const authority = Array.from(
    { length: 1 + source.below(2) },
    (_, at) => linksOf(source, verb).map((link) => ({ ...link, id: `${at}-${link.id}` })) as unknown as Links,
  );
  const request = requestNear(
    source,
    verb,
    authority.flat().flatMap(({ grants }) => grants),
  );
  return {
    authority,
    request,
    moment: { ...moment(source), generation: 0 },
    purpose: oneOf(source, ["use", "use", "pass"] as const),
  };
}

const level = (core: Implementation, { authority, request, moment, purpose }: Case): number | null =>
  core.level(authority, request, moment, purpose);

/** A narrower answer: a denial, or at least as demanding a level. */
const narrower = (after: number | null, before: number | null): boolean =>
  after === null || (before !== null && after >= before);

const chainIsReference: Law = (core, source) => {
  const one = someCase(source);
  const expected = naiveJudge(one.authority, one.request, one.moment, one.purpose);
  const found = level(core, one);
  return found === expected ? null : `${found} instead of ${expected}\n${printValue(one)}`;
};

/** Written out, the chain decides as it does link by link; what was too large to write out is only ever narrower. */
const chainIsMeet: Law = (core, source) => {
  const verb = oneOf(source, VERBS);
  const links = chain(source, verb, 3, true).map(({ link }) => link) as unknown as Links;
  const met = core.meetChain(links);
  for (let count = 0; count < 3; count++) {
    const request = requestNear(
      source,
      verb,
      met.grants.length > 0 && chance(source, 50) ? met.grants : links.flatMap(({ grants }) => grants),
    );
    const at = moment(source);
    const purpose = oneOf(source, ["use", "pass"] as const);
    const role = links.some((link) => link.role === "own") ? "own" : "limit";
    const whole = core.level([links], request, at, purpose);
    const written = core.level([[linkOf(met.grants, "met", role)]], request, at, purpose);
    if (met.complete ? whole !== written : !narrower(written, whole))
      return `${written} instead of ${whole}\n${printValue(links.map(({ role, grants }) => [role, grants]))}\n${printValue(request)}`;
  }
  return null;
};

const meetIsBoth: Law = (core, source) => {
  const verb = oneOf(source, VERBS);
  const left = grants(source, verb, 1, 2);
  const right = chance(source, 50) ? left.map((each) => widenGrant(source, each)) : grants(source, verb, 1, 2);
  const met = core.meet(left, right);
  const request = requestNear(source, verb, oneOf(source, [left, right, met.grants]));
  const at = moment(source);
  const levels = [left, right].map((list) => core.level(single(list), request, at, "use"));
  const expected = levels.includes(null) ? null : Math.max(...(levels as number[]));
  const found = core.level(single(met.grants), request, at, "use");
  const good = met.complete ? found === expected : narrower(found, expected);
  return good
    ? null
    : `${found} instead of ${expected}\n${printValue([left, right].map((list) => list.map(({ scopes, conditions }) => [scopes, conditions])))}\n${printValue(request)}`;
};

/** Every ancestor's chain covers too: for use if no later link is an agent's own, else for passing on. */
const neverExceedsAncestor: Law = (core, source) => {
  const verb = oneOf(source, VERBS);
  const links = linksOf(source, verb, 7);
  const request = requestNear(
    source,
    verb,
    links.flatMap(({ grants }) => grants),
  );
  const at = { ...moment(source), generation: 0 };
  const whole = core.level([links], request, at, "use");
  if (whole === null) return null;
  for (let length = 1; length < links.length; length++) {
    const purpose = links.slice(length).some(({ role }) => role === "own") ? "pass" : "use";
    const above = naiveJudge([links.slice(0, length)], request, at, purpose);
    if (above === null || above > whole)
      return `${whole} below, ${above} above after ${length}\n${printValue(links)}\n${printValue(request)}`;
  }
  return null;
};

/** What may be delegated is within what the granter may pass on, whatever is requested later. */
const delegationNarrows: Law = (core, source) => {
  const verb = oneOf(source, VERBS);
  const granter = [
    linksOf(source, verb, 3).map((link) => ({
      ...link,
      validity: { notBefore: null, expires: null, generations: null },
    })) as unknown as Links,
  ];
  const own = granter.flat().flatMap((link) => link.grants);
  const proposed: readonly Grant[] = chance(source, 60)
    ? core.meetChain(granter[0] as Links).grants
    : [oneOf(source, own)];
  if (!core.mayDelegate(granter, proposed)) return null;
  for (let count = 0; count < 3; count++) {
    const request = requestNear(source, verb, proposed);
    const at = moment(source);
    const below = naiveJudge([[linkOf(proposed, "proposed", "limit")]], request, at, "use");
    const above = naiveJudge(granter, request, at, "pass");
    if (below !== null && (above === null || above > below))
      return `${below} below, ${above} above\n${printValue(granter)}\n${printValue(proposed)}\n${printValue(request)}`;
  }
  return null;
};

const revoking: Law = (core, source) => {
  const one = someCase(source);
  const links = oneOf(source, one.authority);
  const victim = oneOf(source, links as readonly Link[]).id;
  const before = level(core, one);
  const after = level(core, { ...one, moment: { ...one.moment, revoked: (id) => id === victim } });
  if (!narrower(after, before)) return `revoking ${victim} widened\n${printValue(one)}`;
  const alone = core.level([links], one.request, { ...one.moment, revoked: (id) => id === victim }, one.purpose);
  return alone === null ? null : `revoked and still covered\n${printValue(one)}`;
};

const EDITS: readonly (readonly [string, (source: Source, link: Link) => Link])[] = [
  [
    "removing a grant",
    (source, link) => ({ ...link, grants: link.grants.toSpliced(source.below(link.grants.length), 1) }),
  ],
  [
    "raising the approval level",
    (source, link) =>
      edited(source, link, (grant) => ({
        ...grant,
        conditions: { ...grant.conditions, ask: Math.min(2, grant.conditions.ask + 1) as Grant["conditions"]["ask"] },
      })),
  ],
  [
    "ending a grant sooner",
    (source, link) =>
      edited(source, link, (grant) => ({
        ...grant,
        conditions: { ...grant.conditions, expires: Math.min(grant.conditions.expires ?? 50, 15) },
      })),
  ],
  [
    "requiring a clean session",
    (source, link) => edited(source, link, (grant) => ({ ...grant, conditions: { ...grant.conditions, clean: true } })),
  ],
  [
    "naming users",
    (source, link) =>
      edited(source, link, (grant) => ({
        ...grant,
        conditions: { ...grant.conditions, principals: grant.conditions.principals?.slice(1) ?? ["user:ann"] },
      })),
  ],
  [
    "ending a link sooner",
    (_, link) => ({ ...link, validity: { ...link.validity, expires: Math.min(link.validity.expires ?? 50, 15) } }),
  ],
  [
    "starting a link later",
    (_, link) => ({ ...link, validity: { ...link.validity, notBefore: Math.max(link.validity.notBefore ?? 0, 15) } }),
  ],
  [
    "leaving a generation",
    (_, link) => ({
      ...link,
      validity: { ...link.validity, generations: (link.validity.generations ?? [0, 1, 2]).slice(1) },
    }),
  ],
];

function edited(source: Source, link: Link, change: (grant: Grant) => Grant): Link {
  const at = source.below(link.grants.length);
  return { ...link, grants: link.grants.map((grant, index) => (index === at ? change(grant) : grant)) };
}

const narrowing: Law = (core, source) => {
  const one = someCase(source);
  const [name, edit] = oneOf(source, EDITS);
  const which = source.below(one.authority.length);
  const authority = one.authority.map((links, at) => {
    if (at !== which) return links;
    const place = source.below(links.length);
    return links.map((link, here) => (here === place ? edit(source, link) : link)) as unknown as Links;
  });
  return narrower(level(core, { ...one, authority }), level(core, one))
    ? null
    : `${name}\n${printValue(one)}\n${printValue(authority)}`;
};

const emptyingAccounts: Law = (core, source) => {
  const one = someCase(source);
  const links = oneOf(source, one.authority);
  const empty = { link: oneOf(source, links as readonly Link[]).id, grant: source.below(4) - 1 };
  const after = level(core, {
    ...one,
    moment: { ...one.moment, exhausted: (link, grant) => link === empty.link && grant === empty.grant },
  });
  return narrower(after, level(core, one)) ? null : `${printValue(empty)}\n${printValue(one)}`;
};

/** A further delegation may let its holder use what the one before could only pass on; never what could not be passed on. */
const addingLink: Law = (core, source) => {
  const one = someCase(source);
  const verb = one.request.verb;
  const link = linkOf(grants(source, verb, 1, 3), "added", oneOf(source, ["own", "limit"] as const));
  const authority = one.authority.map((links) => [...links, link] as unknown as Links);
  const before = link.role === "own" ? core.level(one.authority, one.request, one.moment, "pass") : level(core, one);
  return narrower(level(core, { ...one, authority }), before) ? null : `${printValue(one)}\n${printValue(link)}`;
};

const LAWS: readonly (readonly [string, Law, number])[] = [
  [
    "law 7: a chain covers what each of its links covers, at the strictest level; an authority what some one chain covers",
    chainIsReference,
    6_000,
  ],
  ["law 7: a chain decides as its meet written out", chainIsMeet, 2_000],
  ["law 7: a meet covers what both sides cover", meetIsBoth, 2_500],
  ["law 13: a chain of any length covers nothing that an ancestor does not", neverExceedsAncestor, 2_500],
  ["law 13: what may be delegated is within what the granter may pass on", delegationNarrows, 800],
  ["law 14: revoking a link denies everything below it and widens nothing", revoking, 2_000],
  [
    "law 15: no narrowing edit of a link turns a denial into an allowance or lowers the approval level",
    narrowing,
    3_000,
  ],
  ["law 15: an empty account never widens", emptyingAccounts, 1_000],
  ["law 15: adding a link never covers what the chain could not pass on", addingLink, 1_500],
];

describe("chains", () => {
  test.each(LAWS)("%s", (_title, law, count) => {
    expect(findViolation(law, CORE, count)).toBeNull();
    expect(shrunk(law, CORE, 60)).toBeNull();
  });

  test.each([
    ["the last link alone", neverExceedsAncestor, lastLinkOnly],
    ["the least demanding level along a chain", neverExceedsAncestor, mildestWins],
    ["chains that cover a request together", chainIsReference, chainsTogether],
    ["ancestors that cannot be revoked", revoking, ancestorsNeverEnd],
    ["a meet with the weaker conditions", meetIsBoth, anyOfMeet],
    [
      "a delegation that ignores what may be passed on",
      delegationNarrows,
      {
        ...CORE,
        mayDelegate: (granter, proposed) => ignoresPass.within(proposed, granter, true).kind === "within",
      } satisfies Implementation,
    ],
    [
      "a removed grant that opens what it covered",
      narrowing,
      {
        ...CORE,
        level: (authority, request, at, purpose) =>
          authority.flat().some(({ grants: list }) => list.length === 0)
            ? 0
            : CORE.level(authority, request, at, purpose),
      } satisfies Implementation,
    ],
  ] as const)("mutant: %s is caught", (_title, law, mutant) => {
    expect(caught(law, mutant, 20_000)).toBe(true);
  });

  test("a containment that misses a grant does not break these laws", () => {
    expect(caught(chainIsReference, dropsLast, 500)).toBe(false);
  });

  test("the cases were run", () => {
    expect(casesReached()).toBeGreaterThanOrEqual(casesWanted("chain"));
  });
});
