// Random grants of every verb, links, chains and authorities, and requests near them.
import { CATALOG, type VerbEntry, verbEntry } from "../../src/core/authority/catalog.ts";
import type { Authority, Chain } from "../../src/core/authority/chain.ts";
import { compile, type Moment } from "../../src/core/authority/compiled.ts";
import { type Conditions, type Grant, type Level, UNCONDITIONAL } from "../../src/core/authority/grant.ts";
import type { Link, LinkRole, Validity } from "../../src/core/authority/link.ts";
import { ALWAYS } from "../../src/core/authority/link.ts";
import type { Principal } from "../../src/core/authority/principal.ts";
import { scope } from "./scopes.ts";
import { chance, oneOf, type Source, several } from "./source.ts";

export const VERBS: readonly VerbEntry[] = CATALOG;

export function verbOf(name: string): VerbEntry {
  const verb = verbEntry(name);
  if (verb === null) throw new Error(`no verb ${name}`);
  return verb;
}

/** Times at which grants expire and links are evaluated; few, so that they coincide. */
export const TIMES = [10, 20, 30] as const;

/** Lists of users that overlap, and the empty one. */
const USERS: readonly (readonly Principal[])[] = [
  [],
  ["user:*"],
  ["user:ann"],
  ["user:ann", "user:bob"],
  ["group:ops"],
  ["user:bob", "group:ops"],
];

/** Sessions without a user, for a user, and for a user with groups. */
export const ACTING: readonly (readonly Principal[])[] = [
  [],
  ["user:ann"],
  ["user:bob"],
  ["user:eve"],
  ["user:ann", "group:ops"],
  ["user:eve", "group:ops"],
  ["user:eve", "group:ops", "group:dev"],
];

export function conditions(source: Source): Conditions {
  if (chance(source, 55)) return UNCONDITIONAL;
  return {
    ask: source.below(3) as Level,
    calls: null,
    rate: null,
    tokens: null,
    money: null,
    per: null,
    principals: oneOf(source, [null, null, ...USERS]),
    expires: oneOf(source, [null, ...TIMES]),
    pass: oneOf(source, ["both", "both", "use", "pass"] as const),
    clean: chance(source, 25),
  };
}

export function grantOf(verb: VerbEntry, scopes: Grant["scopes"], held: Conditions = UNCONDITIONAL): Grant {
  return { verb, scopes, conditions: held, root: null, span: null, implied: null };
}

export function grant(source: Source, verb: VerbEntry, conditional = true): Grant {
  const scopes = verb.axes.map((axis) => scope(source, axis));
  return grantOf(verb, scopes, conditional ? conditions(source) : UNCONDITIONAL);
}

export function grants(
  source: Source,
  verb: VerbEntry,
  least: number,
  most: number,
  conditional = true,
): readonly Grant[] {
  return several(source, least, most, () => grant(source, verb, conditional));
}

export function linkOf(list: readonly Grant[], id = "link", role: LinkRole = "own", validity: Validity = ALWAYS): Link {
  return { id, role, issuer: "issuer", holder: "holder", grants: list, validity, calls: null };
}

export function validity(source: Source): Validity {
  if (chance(source, 70)) return ALWAYS;
  return {
    notBefore: oneOf(source, [null, 5, 15]),
    expires: oneOf(source, [null, ...TIMES]),
    generations: oneOf(source, [null, null, [0], [1, 2]]),
  };
}

/** A chain of links over the same verb, so that its meet is seldom empty. */
export function chain(source: Source, verb: VerbEntry, most = 3, always = false): Chain {
  const make = (place: number) =>
    compile(
      linkOf(
        grants(source, verb, 1, 3),
        `link-${place}`,
        oneOf(source, ["own", "own", "limit"] as const),
        always ? ALWAYS : validity(source),
      ),
    );
  const length = 1 + source.below(most);
  return [make(0), ...Array.from({ length: length - 1 }, (_, at) => make(at + 1))];
}

export function authorityOf(list: readonly Grant[], role: LinkRole = "own"): Authority {
  return [[compile(linkOf(list, "link", role))]];
}

export const PLAIN_MOMENT: Moment = { now: 0, clean: true, generation: 0, revoked: null, exhausted: null };

export function moment(source: Source): Moment {
  return {
    now: oneOf(source, [0, 9, 10, 15, 19, 29, 30, 40]),
    clean: chance(source, 60),
    generation: source.below(3),
    revoked: null,
    exhausted: null,
    principals: oneOf(source, ACTING),
  };
}
