// From a verb and the map written beside it to a grant. Any mistake inside kills the whole grant.

import type { Scope } from "../../authority/axes/scope.ts";
import { scopeKeys, type VerbEntry } from "../../authority/catalog.ts";
import type { Grant, Span } from "../../authority/grant.ts";
import { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import type { Reading } from "../reading.ts";
import { readOwnRoot } from "../record/hoist.ts";
import { entryOf, type Mapping } from "../tree.ts";
import { readAxis } from "./axis-reader.ts";
import { conditionKeys, readConditions } from "./conditions.ts";

export interface GrantContext {
  readonly reading: Reading;
  readonly diagnostics: Diagnostics;
  /** Of the whole grant. */
  readonly span: Span;
  readonly implied: string | null;
  /** Hoisted root of the agent, or null. */
  readonly root: readonly string[] | null;
  /** Filled with the keys that the grant could have and does not. */
  readonly omitted?: Set<string>;
}

/** INVARIANT: a key that was written is either read or refused; none is passed over. */
export function readGrant(verb: VerbEntry, scope: Mapping | null, context: GrantContext): Grant | null {
  const found = new Diagnostics();
  const grant = readScopes(verb, scope, { ...context, diagnostics: found });
  for (const key of [...scopeKeys(verb), ...conditionKeys(verb)])
    if (scope === null || entryOf(scope, key) === null) context.omitted?.add(key);
  // Of a dropped grant only the errors are reported: that it would also cover nothing is noise.
  for (const one of found.list) if (grant !== null || one.severity === "error") context.diagnostics.list.push(one);
  return grant;
}

function readScopes(verb: VerbEntry, scope: Mapping | null, context: GrantContext): Grant | null {
  const known = checkKeys(verb, scope, context.diagnostics);
  const conditions = readConditions(scope, context.diagnostics);
  const own = scopeKeys(verb).includes("in") ? readOwnRoot(verb, scope, context) : { root: null };
  if (own === null) return null;
  const scopes: Scope[] = [];
  for (const axis of verb.axes) {
    const read = readAxis(axis, { ...context, verb, scope, ownRoot: own.root });
    if (read !== null) scopes.push(read);
  }
  if (!known || conditions === null || scopes.length !== verb.axes.length) return null;
  return { verb, scopes, conditions, root: own.root, span: context.span, implied: context.implied };
}

function checkKeys(verb: VerbEntry, scope: Mapping | null, diagnostics: Diagnostics): boolean {
  if (scope === null) return true;
  const names: readonly string[] = [...scopeKeys(verb), ...conditionKeys(verb)];
  const seen = new Set<string>();
  let known = true;
  for (const { key, keySpan } of scope.entries) {
    if (names.includes(key) && !seen.has(key)) {
      seen.add(key);
      continue;
    }
    known = false;
    if (seen.has(key)) {
      diagnostics.error("syntax", keySpan, `\`${key}\` is written twice`);
      continue;
    }
    const suggestion = nearestName(key, names);
    diagnostics.error("unknown_key", keySpan, `unknown scope key \`${key.slice(0, 80)}\` on \`${verb.verb}\``, {
      suggestion,
    });
  }
  return known;
}
