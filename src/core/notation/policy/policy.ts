// Org policy as grants: what each capability stands for, and which verbs a ruling takes away from other grants.

import { pathText, tree } from "../../authority/axes/path.ts";
import { ANY, isSegments } from "../../authority/axes/scope.ts";
import type { Grant, Span } from "../../authority/grant.ts";
import { intersectSequences } from "../../authority/patterns/intersect.ts";
import { literal } from "../../authority/patterns/segment.ts";
import type { Request } from "../../authority/request.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { destinationsOf, EITHER_MODE, EVERY_HOST, type GrantOrigin, grantOf, sequences, treeGrant } from "../grants.ts";
import type { Reading } from "../reading.ts";
import { isAtOrBelow } from "../record/hoist.ts";
import {
  CAPABILITIES,
  type Capability,
  type Effective,
  effectivePolicy,
  type PolicyTable,
  type RulingPlaces,
} from "./policy-table.ts";

export {
  BASE_POLICY,
  CAPABILITIES,
  effectivePolicy,
  type PolicyTable,
  policyRequests,
  readOrgTable,
  readPolicyTable,
  rulingPlaces,
} from "./policy-table.ts";

export interface PolicyContext {
  readonly reading: Reading;
  readonly diagnostics: Diagnostics;
  readonly span: Span;
  /** Where each ruling of the agent's own table is written. */
  readonly spans?: ReadonlyMap<string, Span>;
  /** Given for a record: what is not in `spans` stands in a configuration, there or nowhere that could be shown. */
  readonly outer?: { readonly agent: RulingPlaces; readonly org: RulingPlaces; readonly label?: string };
  /** The agent's root, hoisted; without one `code` covers nothing. */
  readonly root: readonly string[] | null;
  /** What holds where neither table speaks; the built-in base unless given. */
  readonly base?: PolicyTable;
}

export function policyGrants(agent: PolicyTable | null, org: PolicyTable | null, context: PolicyContext): Grant[] {
  return [...effectivePolicy(agent, org, context.base)].flatMap(([capability, { ruling, from }]) => {
    if (ruling === "deny") return [];
    return bundle(capability, { ...written(capability, from, context), ask: ruling === "ask" ? 1 : 0 }, context);
  });
}

/** INVARIANT: a ruling is never shown at a line that does not say it. */
function written(capability: Capability, from: Effective["from"], { span, spans, outer }: PolicyContext): GrantOrigin {
  const implied = `policy ${capability}`;
  const own = from === "agent" ? spans?.get(capability) : undefined;
  if (from === "base") return { span: outer === undefined ? span : null, implied: `${implied} (base)` };
  if (own !== undefined || outer === undefined) return { span: own ?? span, implied };
  return { span: outer[from].get(capability) ?? null, implied: `${implied} (${outer.label ?? "config"})` };
}

function bundle(capability: Capability, written: GrantOrigin, context: PolicyContext): Grant[] {
  const everywhere = { host: destinationsOf([EVERY_HOST]) };
  switch (capability) {
    case "code":
      return codeGrants(written, context);
    case "consult":
      return [grantOf("agent.consult", {}, written)];
    case "web":
      return [
        grantOf("net.get", { ...everywhere, port: ANY }, written),
        grantOf("provider.web_search", everywhere, written),
        grantOf("provider.web_fetch", everywhere, written),
      ];
    case "delegate":
      return [grantOf("agent.delegate", {}, written)];
    case "hire":
      return [grantOf("agent.create", {}, written)];
    case "schedule":
      return [grantOf("task.schedule", {}, written)];
    case "crm":
      return ["records.read", "records.create", "records.update"].map((verb) =>
        grantOf(verb, { class: sequences([CONTACT]) }, written),
      );
    default:
      return capability satisfies never;
  }
}

function codeGrants(written: GrantOrigin, { root, reading, diagnostics, span }: PolicyContext): Grant[] {
  const reason =
    root === null
      ? "the agent has no root"
      : root.length === 0
        ? "`/` is never the root of a process"
        : reading.ceiling !== null && !isAtOrBelow(root, reading.ceiling)
          ? `${pathText(root)} is outside ${pathText(reading.ceiling)}`
          : null;
  if (root === null || reason !== null) {
    diagnostics.warning("inert", span, `the policy's \`code\` covers nothing: ${reason}`, { fix: "sandbox: ." });
    return [];
  }
  const where = sequences([tree(root)]);
  return [
    treeGrant("fs.read", root, written),
    treeGrant("fs.write", root, written),
    grantOf("proc.exec", { root: where, argv: ANY, mode: EITHER_MODE }, { ...written, root }),
    grantOf("proc.eval", { root: where, mode: EITHER_MODE }, { ...written, root }),
  ];
}

const CONTACT = [literal("contact")];

/** What `deny` takes away, and `ask` of an outer table asks for: at least the verbs that the capability grants. */
const LIMITED_VERBS: Readonly<Record<Capability, RegExp>> = {
  code: /^(fs|proc|sandbox)\.|^provider\.(code_execution|computer_use)$/,
  consult: /^agent\.consult$/,
  web: /^net\.|^provider\.web_/,
  delegate: /^agent\.delegate$/,
  hire: /^agent\.create$/,
  schedule: /^task\.schedule$/,
  crm: /^records\./,
};

/** The capability whose `deny` removes every grant that would cover this request; null where none does. */
export function denyingCapability(limits: PolicyTable, { verb, values }: Request): Capability | null {
  const denied = CAPABILITIES.find((one) => limits.get(one) === "deny" && LIMITED_VERBS[one].test(verb.verb));
  if (denied !== "crm") return denied ?? null;
  const record = values[verb.axes.findIndex(({ name }) => name === "class")];
  return isSegments(record) && record.segments.join("/") === "contact" ? denied : null;
}

/** INVARIANT: the result is within `grants`. No scope means "all but", so a grant of every class has no part to keep. */
export function limitedBy(limits: PolicyTable, grants: readonly Grant[], diagnostics: Diagnostics): readonly Grant[] {
  return grants.flatMap((grant) => {
    const capability = CAPABILITIES.find((one) => limits.has(one) && LIMITED_VERBS[one].test(grant.verb.verb));
    if (capability === undefined) return [grant];
    if (limits.get(capability) === "deny") return denied(capability, grant, diagnostics);
    if (limits.get(capability) === "allow" || (capability === "crm" && withoutContacts(grant) === grant))
      return [grant];
    const { conditions } = grant;
    return [{ ...grant, conditions: { ...conditions, ask: conditions.ask === 0 ? 1 : conditions.ask } }];
  });
}

function denied(capability: Capability, grant: Grant, diagnostics: Diagnostics): readonly Grant[] {
  const kept = capability === "crm" ? withoutContacts(grant) : null;
  if (kept === grant) return [grant];
  const what = kept === null ? grant.verb.verb : `\`contact\` of ${grant.verb.verb}`;
  const hint = kept === null && capability === "crm" ? "; list the classes it needs, without contact" : "";
  const message = `the policy denies \`${capability}\`, which removes ${what}${hint}`;
  if (grant.span !== null) diagnostics.warning("narrowed", grant.span, message);
  return kept === null ? [] : [kept];
}

/** The grant itself where it covers no contact; null where nothing can be kept. */
function withoutContacts(grant: Grant): Grant | null {
  const at = grant.verb.axes.findIndex(({ name }) => name === "class");
  const scope = grant.scopes[at];
  if (scope?.kind !== "sequences") return null;
  const kept = scope.of.filter((pattern) => intersectSequences(pattern, CONTACT, false)?.length === 0);
  if (kept.length === scope.of.length) return grant;
  return kept.length === 0 ? null : { ...grant, scopes: grant.scopes.with(at, sequences(kept)) };
}
