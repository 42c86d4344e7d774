// The held hosts in a provider's form: a list of domains, each of which includes its subdomains.

import { type DestinationScope, hostPatternText } from "../../core/authority/axes/destination.ts";
import type { Scope } from "../../core/authority/axes/scope.ts";
import { type Authority, linkState } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { type Conditions, type Grant, isCounted } from "../../core/authority/grant.ts";
import { meetChain } from "../../core/authority/meet.ts";
import type { Sequence } from "../../core/authority/patterns/sequence.ts";
import { principalsHold } from "../../core/authority/principal.ts";

export interface Domains {
  /** Null: every public host. Empty: none. */
  readonly of: readonly string[] | null;
  /** Domains of which only the exact name is held, although the provider includes subdomains. */
  readonly wider: readonly string[];
  /** Held hosts that cannot be expressed for a provider, with the reason. */
  readonly left: readonly { readonly what: string; readonly why: string }[];
}

/** The smaller limit of both providers. */
const domainsMax = 100;
const leftMax = 20;
const portMax = 65_535;

/** INVARIANT: only grants that apply now, without approval and without a budget: neither is possible at the provider. */
export function grantedDomains(authority: Authority, moment: Moment, verbs: readonly string[]): Domains {
  const found = new Map<string, "tree" | "exact">();
  const left = new Map<string, string>();
  let isEvery = false;
  const leave = (what: string, why: string): void => {
    if (left.size < leftMax) left.set(what, why);
  };
  for (const { grant, isLinkCounted } of held(authority, moment, verbs)) {
    const [hosts, ports] = grant.scopes;
    const fault = conditionFault(grant.conditions, isLinkCounted) ?? portFault(ports);
    const scope = destinationsOf(hosts);
    if (scope === "any" && fault === null) isEvery = true;
    if (scope === "any" || scope === null) {
      if (fault !== null) leave(grant.verb.verb, fault);
      continue;
    }
    for (const what of namesOf(scope)) {
      if (fault !== null) leave(what.text, fault);
      else if (what.kind === "every") isEvery = true;
      else if (what.kind === "other") leave(what.text, what.why);
      else if (found.get(what.text) !== "tree") found.set(what.text, what.kind);
    }
  }
  if (isEvery) return { of: null, wider: [], left: [] };
  const all = withoutInner(found);
  for (const one of all.slice(domainsMax)) leave(one, `a provider accepts at most ${domainsMax} domains`);
  const of = all.slice(0, domainsMax);
  return {
    of,
    wider: of.filter((one) => found.get(one) === "exact"),
    left: [...left].map(([what, why]) => ({ what, why })),
  };
}

interface HeldGrant {
  readonly grant: Grant;
  readonly isLinkCounted: boolean;
}

function held(authority: Authority, moment: Moment, verbs: readonly string[]): readonly HeldGrant[] {
  return authority
    .filter((chain) => chain.every((compiled) => linkState(compiled, moment) === null))
    .flatMap((chain) => {
      const { grants, calls } = meetChain(chain);
      return grants
        .filter(({ verb, conditions }) => verbs.includes(verb.verb) && holds(conditions, moment))
        .map((grant) => ({ grant, isLinkCounted: calls !== null }));
    });
}

function holds({ expires, principals, clean, pass }: Conditions, moment: Moment): boolean {
  if (!principalsHold(principals, moment.principals ?? [])) return false;
  return (expires === null || moment.now < expires) && (!clean || moment.clean) && pass !== "pass";
}

function conditionFault(conditions: Conditions, isLinkCounted: boolean): string | null {
  if (conditions.ask !== 0) return "a person has to approve each use, and a provider cannot request approval";
  return isLinkCounted || isCounted(conditions)
    ? "the grant has a budget, and uses by a provider cannot be counted"
    : null;
}

/** A provider connects to any port that an address names. */
function portFault(ports: Scope | undefined): string | null {
  if (ports === undefined || ports.kind === "any") return null;
  const isAll = ports.kind === "ports" && ports.of.some(({ low, high }) => low <= 1 && high >= portMax);
  return isAll ? null : "a provider cannot be limited to ports";
}

function destinationsOf(scope: Scope | undefined): DestinationScope | "any" | null {
  if (scope === undefined) return null;
  if (scope.kind === "any") return "any";
  return scope.kind === "destinations" ? scope : null;
}

type DomainName =
  | { readonly kind: "tree" | "exact" | "every"; readonly text: string }
  | { readonly kind: "other"; readonly text: string; readonly why: string };

function namesOf({ names, ranges, everyPublic }: DestinationScope): readonly DomainName[] {
  const every: readonly DomainName[] = everyPublic ? [{ kind: "every", text: "*" }] : [];
  const addresses: readonly DomainName[] =
    ranges.length === 0 ? [] : [{ kind: "other", text: "addresses", why: "a provider accepts only host names" }];
  return [...every, ...names.map(named), ...addresses];
}

function named(name: Sequence): DomainName {
  const text = hostPatternText(name);
  const literals = name.flatMap((segment) => (segment.kind === "literal" ? [segment.text] : []));
  const isTree = name.length === literals.length + 1 && name.at(-1)?.kind === "deep";
  if (!isTree && name.length !== literals.length)
    return { kind: "other", text, why: "a provider would include the domain itself, which is not granted" };
  if (literals.length < 2) return { kind: "other", text, why: "it is not a domain that a provider accepts" };
  return { kind: isTree ? "tree" : "exact", text: literals.toReversed().join(".") };
}

/** A subdomain of a listed domain adds nothing for the provider. Sorted, so that equal grants give equal requests. */
function withoutInner(found: ReadonlyMap<string, "tree" | "exact">): readonly string[] {
  return [...found.keys()]
    .filter((one) => !below(one).some((outer) => found.get(outer) === "tree"))
    .sort((left, right) => (left < right ? -1 : 1));
}

/** The parent domains of a name, nearest first. */
function below(name: string): readonly string[] {
  const labels = name.split(".");
  return labels.slice(1).map((_, at) => labels.slice(at + 1).join("."));
}
