// A small authority for tests, built directly: no notation, no files.

import { ANY, type Scope } from "../../src/core/authority/axes/scope.ts";
import { type VerbEntry, verbEntry } from "../../src/core/authority/catalog.ts";
import type { Chain } from "../../src/core/authority/chain.ts";
import { type CompiledLink, compile, type Moment } from "../../src/core/authority/compiled.ts";
import { type Conditions, type Grant, UNCONDITIONAL } from "../../src/core/authority/grant.ts";
import { ALWAYS, type Link, type LinkRole } from "../../src/core/authority/link.ts";

export function verb(name: string): VerbEntry {
  const entry = verbEntry(name);
  if (entry === null) throw new Error(`no verb ${name}`);
  return entry;
}

export function grant(name: string, scopes?: readonly Scope[], conditions: Partial<Conditions> = {}): Grant {
  const entry = verb(name);
  return {
    verb: entry,
    scopes: scopes ?? entry.axes.map(() => ANY),
    conditions: { ...UNCONDITIONAL, ...conditions },
    root: null,
    span: null,
    implied: null,
  };
}

export function link(
  id: string,
  grants: readonly Grant[],
  more: Partial<Link> = {},
  role: LinkRole = "own",
): CompiledLink {
  return compile({ id, role, issuer: "person", holder: "scout", grants, validity: ALWAYS, calls: null, ...more });
}

export function chain(first: CompiledLink, ...rest: readonly CompiledLink[]): Chain {
  return [first, ...rest];
}

export function moment(more: Partial<Moment> = {}): Moment {
  return { now: 1_000, clean: true, generation: 0, revoked: null, exhausted: null, ...more };
}
