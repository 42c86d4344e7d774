// Which tools of a model's provider a request may name: decided when the request is built, because they run elsewhere
// and never pass the gate. A tool that is not granted is omitted; one that is granted for some hosts is limited to
// them.

import { verbEntry } from "../../core/authority/catalog.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { judge } from "../../core/authority/judge.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { chargesOf } from "../../core/gate/decide.ts";
import { PROVIDER_CATALOG, type Provider, type ProviderEntry, type ProviderSettings } from "./provider-catalog.ts";
import { type Domains, grantedDomains } from "./provider-domains.ts";

export interface ProviderTool {
  readonly name: string;
  /** In the format of the provider's API. */
  readonly request: JsonObject;
  /** The domains it is limited to; null if it has no limit, or for all hosts. */
  readonly domains: readonly string[] | null;
}

export interface ProviderTools {
  readonly tools: readonly ProviderTool[];
  readonly omitted: readonly { readonly name: string; readonly why: string }[];
  /** Where the provider's rule differs from ours, in sentences. */
  readonly notes: readonly string[];
}

/** INVARIANT: no tool and no domain that is not held; except that a domain includes its subdomains, which a note says. */
export function providerTools(
  authority: Authority,
  moment: Moment,
  provider: Provider,
  settings: ProviderSettings = {},
): ProviderTools {
  const tools: ProviderTool[] = [];
  const omitted: { readonly name: string; readonly why: string }[] = [];
  const notes = new Set<string>();
  for (const entry of PROVIDER_CATALOG[provider]) {
    const isNamed = settings.names?.includes(entry.name) ?? !entry.isByName;
    if (!isNamed) continue;
    const domains = entry.isScoped ? grantedDomains(authority, moment, ["net.get", entry.verb]) : null;
    const refused = domains === null ? verbFault(authority, moment, entry) : domainsFault(entry, domains);
    const request = refused ?? entry.request(domains?.of ?? null, settings);
    if (typeof request === "string") omitted.push({ name: entry.name, why: request });
    else tools.push({ name: entry.name, request, domains: domains?.of ?? null });
    for (const note of domains === null ? [] : notesOf(entry, domains, typeof request !== "string")) notes.add(note);
  }
  for (const name of settings.names ?? [])
    if (!PROVIDER_CATALOG[provider].some((entry) => entry.name === name))
      omitted.push({ name: name.slice(0, nameCharactersMax), why: `${provider} has no such tool` });
  return { tools, omitted, notes: [...notes] };
}

const nameCharactersMax = 100;

/** A tool that cannot be limited there needs its own verb, without approval and without a budget. */
function verbFault(authority: Authority, moment: Moment, { verb: name }: ProviderEntry): string | null {
  const verb = verbEntry(name);
  if (verb === null) return `${name} is not a verb`;
  if (verb.axes.length > 0)
    return grantedDomains(authority, moment, [name]).of === null ? null : `${name} is not granted for every host`;
  const decision = judge(authority, { verb, values: [] }, moment);
  if (decision.outcome === "deny") return `${name} is not granted`;
  if (decision.outcome === "ask") return `${name} needs a person's approval, and a provider cannot request approval`;
  const isCounted = chargesOf({ basis: [decision.by], authority }).length > 0;
  return isCounted ? `${name} has a budget, and uses by a provider cannot be counted` : null;
}

function domainsFault({ verb }: ProviderEntry, { of, left }: Domains): string | null {
  if (of === null || of.length > 0) return null;
  const [first] = left;
  if (first === undefined) return `neither net.get nor ${verb} is granted for any host`;
  return `${first.what}: ${first.why}`;
}

function notesOf({ name }: ProviderEntry, { wider, left }: Domains, isOffered: boolean): readonly string[] {
  if (!isOffered) return [];
  return [
    ...wider.map((one) => `${name}: the provider also allows all subdomains of ${one}; your grant covers only ${one}`),
    ...left.map(({ what, why }) => `${name}: ${what} is omitted: ${why}`),
  ];
}
