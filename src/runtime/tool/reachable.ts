// Whether an agent's grants can ever allow a tool: it may be called, and something of each part it needs may be done.
// For lists shown to a model; only the gate decides what a call may do.

import { parseTool } from "../../core/authority/axes/name.ts";
import { isNothing, type Scope, scopeMatches } from "../../core/authority/axes/scope.ts";
import { type VerbEntry, verbEntry } from "../../core/authority/catalog.ts";
import { type Authority, type Chain, linkState, purposeAt } from "../../core/authority/chain.ts";
import { type CompiledLink, conditionsHold, type Moment } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { type Meet, meetChain, meetGrants } from "../../core/authority/meet.ts";
import type { Sequence } from "../../core/authority/patterns/sequence.ts";
import { principalsHold } from "../../core/authority/principal.ts";
import type { Requirement } from "./requirement.ts";

export type Reaches = (name: string, requirement: Requirement | null) => boolean;

const INVOKE = verbEntry("tool.invoke");

/** The current chains, each met once for all tools in question. */
export function reachesOf(authority: Authority, moment: Moment): Reaches {
  const chains = authority
    .filter((chain) => chain.every((compiled) => linkState(compiled, moment) === null))
    .map((chain) => ({ scopes: invokeScopes(chain, moment), meet: lasting(meetChain(chain), moment) }));
  return (name, requirement) => {
    const tool = parseTool(name);
    if (!tool.ok) return false;
    return chains.some(
      ({ scopes, meet }) =>
        scopes.every((ofLink) => ofLink.some((scope) => scopeMatches(scope, tool.value))) &&
        (requirement === null || meetsParts(meet, requirement)),
    );
  };
}

/** Whether every link of one chain has some grant of a verb. */
export function holdsOf(authority: Authority, moment: Moment): (verb: VerbEntry | null) => boolean {
  const chains = authority.filter((chain) => chain.every((compiled) => linkState(compiled, moment) === null));
  const meets = chains.map((chain) => lasting(meetChain(chain), moment));
  return (verb) =>
    meets.some(
      ({ grants, complete }) =>
        !complete || grants.some((grant) => grant.verb === verb && !grant.scopes.some(isNothing)),
    );
}

/** Whether each link of some chain has a grant that names a tool whose name starts so, for tools that are not known yet. */
export function couldCall(authority: Authority, prefix: string): boolean {
  const isNamed = (pattern: Sequence): boolean => {
    const [origin, name] = pattern;
    if (origin?.kind === "deep") return true;
    if (origin?.kind === "literal" && origin.text !== "tool") return false;
    if (name === undefined) return false;
    if (name.kind === "literal") return name.text.startsWith(prefix);
    const start = name.kind === "glob" ? (name.parts[0] ?? "") : "";
    return start.startsWith(prefix) || prefix.startsWith(start);
  };
  const names = (scope: Scope | undefined): boolean =>
    scope?.kind === "any" || (scope?.kind === "sequences" && scope.of.some(isNamed));
  return authority.some((chain) =>
    chain.every(({ link }) => link.grants.some(({ verb, scopes }) => verb === INVOKE && names(scopes[0]))),
  );
}

function lasting({ grants, complete }: Meet, { now, principals = [] }: Moment): Meet {
  const holds = ({ conditions }: Grant): boolean =>
    (conditions.expires === null || now < conditions.expires) && principalsHold(conditions.principals, principals);
  return { grants: grants.filter(holds), complete };
}

/** For each link, which tools may be called for some arguments; the call decides which. The same for all tools of a list. */
function invokeScopes(chain: Chain, moment: Moment): readonly (readonly Scope[])[] {
  const ofLink = (compiled: CompiledLink, place: number): readonly Scope[] => {
    const purpose = purposeAt(chain, place, "use");
    return (INVOKE === null ? [] : compiled.grantsOf(INVOKE))
      .map((index) => compiled.link.grants[index] as Grant)
      .filter((grant) => conditionsHold(grant, moment, purpose))
      .map(({ scopes }) => scopes[0] as Scope);
  };
  return chain.map(ofLink);
}

/** One verb of each part is sufficient: a tool that fetches from a host need not also post there. */
function meetsParts(meet: Meet, { grants, parts }: Requirement): boolean {
  return parts.every((part) => {
    const needed = grants.filter((grant) => grant.implied === part);
    // A part that names nothing needs nothing. A meet that is too large to compute may be non-empty.
    if (needed.length === 0 || !meet.complete) return true;
    const met = meetGrants(meet.grants, needed);
    return met.grants.length > 0 || !met.complete;
  });
}
