// The query of agent_discover: verbs, by name or by pattern, and specs of what an agent must hold.

import type { PathSettings } from "../../core/authority/axes/path.ts";
import { isNothing } from "../../core/authority/axes/scope.ts";
import { CATALOG } from "../../core/authority/catalog.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { within } from "../../core/authority/witness/within.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import { quoteText } from "../../core/notation/quote-text.ts";
import { nearestVerb } from "../../core/notation/scope/verb-reader.ts";
import { heldGrants } from "./held-grants.ts";

export type AgentQueryItem =
  | { readonly kind: "verbs"; readonly verbs: readonly string[] }
  | { readonly kind: "grant"; readonly grant: Grant };

/** `read`: parses one compact spec; null if it is invalid. */
export function parseAgentQuery(
  items: readonly string[],
  read: (spec: string) => Grant | null,
): Result<readonly AgentQueryItem[]> {
  const asked: AgentQueryItem[] = [];
  for (const item of items) {
    const one = item.includes("{") ? specOf(item, read) : verbsOf(item.trim());
    if (!one.ok) return one;
    asked.push(one.value);
  }
  return done(asked);
}

function specOf(item: string, read: (spec: string) => Grant | null): Result<AgentQueryItem> {
  const grant = read(item);
  if (grant === null) return refuse("bad_value", `${quoteText(item)} cannot be parsed as a spec`);
  // An empty spec would match every agent.
  if (grant.scopes.some(isNothing)) return refuse("bad_value", `${quoteText(item)} covers nothing`);
  return done({ kind: "grant", grant });
}

function verbsOf(item: string): Result<AgentQueryItem> {
  const names = CATALOG.map(({ verb }) => verb);
  const [, resource] = /^([a-z]+)\.\*$/.exec(item) ?? [];
  const verbs =
    item === "*" || item === "**"
      ? names
      : names.filter((verb) => (resource === undefined ? verb === item : verb.startsWith(`${resource}.`)));
  if (verbs.length > 0) return done({ kind: "verbs", verbs });
  const nearest = nearestVerb(item);
  return refuse("bad_value", `${quoteText(item)} is not a verb${nearest === null ? "" : `; did you mean ${nearest}?`}`);
}

/** The requested verbs that are held, sorted; null if a part of the query is not held. */
export function grantedVerbs(
  asked: readonly AgentQueryItem[],
  authority: Authority,
  protectedPaths: PathSettings["protectedPaths"],
): readonly string[] | null {
  const grants = heldGrants(authority).filter(({ scopes }) => !scopes.some(isNothing));
  const held = new Set(grants.map(({ verb }) => verb.verb));
  const shown = new Set<string>();
  for (const one of asked) {
    const verbs = one.kind === "verbs" ? one.verbs.filter((verb) => held.has(verb)) : [one.grant.verb.verb];
    const isHeld =
      one.kind === "verbs"
        ? verbs.length > 0
        : within([one.grant], authority, { protectedPaths, delegating: false }).kind === "within";
    if (!isHeld) return null;
    for (const verb of verbs) shown.add(verb);
  }
  return [...shown].sort();
}
