// Org policy: allow, ask or deny for each capability, resolved from the agent over the org to the base.
import type { Span } from "../../authority/grant.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import { kindName } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping, type TreeNode } from "../tree.ts";

export const CAPABILITIES = ["code", "consult", "web", "delegate", "hire", "schedule", "crm"] as const;
export type Capability = (typeof CAPABILITIES)[number];

const RULINGS = ["allow", "ask", "deny"] as const;
export type Ruling = (typeof RULINGS)[number];

/** By default over the built-in capabilities; an org file may define more. */
export type PolicyTable<Name extends string = Capability> = ReadonlyMap<Name, Ruling>;

/** Where the rulings of a table are written. */
export type RulingPlaces<Name extends string = Capability> = ReadonlyMap<Name, Span>;

/** Counts only inside a written org table, and is shown as `base` there. */
export const BASE_POLICY: PolicyTable = new Map(
  CAPABILITIES.map((capability) => [capability, capability === "crm" ? "ask" : "allow"]),
);

const DENY_ALL: PolicyTable = new Map(CAPABILITIES.map((capability) => [capability, "deny"]));

/**
 * Null when anything in it is not understood. INVARIANT: null is not "no table": a caller that gets null grants
 * nothing, because a misspelt `deny` must not fall through to a wider table.
 */
export function readPolicyTable(node: TreeNode, diagnostics: Diagnostics): PolicyTable | null {
  return readRulings(node, CAPABILITIES, diagnostics);
}

/** A table over these names, with the invariant of `readPolicyTable`. */
export function readRulings<Name extends string>(
  node: TreeNode,
  names: readonly Name[],
  diagnostics: Diagnostics,
): PolicyTable<Name> | null {
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `a policy is a map of capabilities, not ${kindName(node)}`, {
      fix: "{ code: ask }",
    });
    return null;
  }
  const table = new Map<Name, Ruling>();
  for (const entry of node.entries) {
    const capability = names.find((one) => one === entry.key);
    const ruling = readRuling(entry, diagnostics);
    if (capability === undefined) {
      const suggestion = nearestName(entry.key, names);
      diagnostics.error(
        "unknown_key",
        entry.keySpan,
        `${quoteText(entry.key)} is not a capability; the whole table grants nothing`,
        { suggestion },
      );
    } else if (ruling !== null) table.set(capability, ruling);
  }
  return table.size === node.entries.length ? table : null;
}

/** Whether the table was understood or not: a place by itself says nothing. */
export function rulingPlaces(node: TreeNode | undefined): RulingPlaces {
  return placesOfRulings(node, CAPABILITIES);
}

export function placesOfRulings<Name extends string>(
  node: TreeNode | undefined,
  names: readonly Name[],
): RulingPlaces<Name> {
  const places = new Map<Name, Span>();
  for (const { key, keySpan, value } of node?.kind === "map" ? node.entries : []) {
    const capability = names.find((one) => one === key);
    if (capability !== undefined) places.set(capability, { ...keySpan, end: value.span.end });
  }
  return places;
}

function readRuling({ key, value }: Entry, diagnostics: Diagnostics): Ruling | null {
  const written = value.kind === "scalar" ? value.value : null;
  const ruling = RULINGS.find((one) => one === written);
  if (ruling !== undefined) return ruling;
  const suggestion = typeof written === "string" ? nearestName(written, RULINGS) : null;
  diagnostics.error(
    "bad_value",
    value.span,
    `${quoteText(key)} is allow, ask or deny; the whole table grants nothing`,
    {
      suggestion,
      fix: suggestion ?? `${key}: ask`,
    },
  );
  return null;
}

export interface Effective {
  readonly ruling: Ruling;
  readonly from: "agent" | "org" | "base";
}

/** Without an org table the base has no effect: nothing unwritten is granted. */
export function effectivePolicy(
  agent: PolicyTable | null,
  org: PolicyTable | null,
  base: PolicyTable = BASE_POLICY,
): ReadonlyMap<Capability, Effective> {
  const effective = new Map<Capability, Effective>();
  const tables = [
    { from: "agent", table: agent },
    { from: "org", table: org },
    { from: "base", table: org === null ? null : base },
  ] as const;
  for (const capability of CAPABILITIES) {
    for (const { from, table } of tables) {
      const ruling = table?.get(capability);
      if (ruling === undefined) continue;
      effective.set(capability, { ruling, from });
      break;
    }
  }
  return effective;
}

/** What a person is asked for: each capability that resolves to ask. */
export function policyRequests(effective: ReadonlyMap<Capability, Effective>): string[] {
  return [...effective].flatMap(([capability, { ruling }]) => (ruling === "ask" ? [`capability:${capability}`] : []));
}

export interface OrgTable {
  readonly defaults: PolicyTable | null;
  readonly agents: ReadonlyMap<string, PolicyTable>;
}

/** Null when the defaults or the shape are not understood. An agent whose own table is not understood is denied all. */
export function readOrgTable(node: TreeNode, diagnostics: Diagnostics): OrgTable | null {
  const map = mapAt(node, node.span, "an org table", ["defaults", "agents"], diagnostics);
  if (map === null) return null;
  const defaults = entryOf(map, "defaults");
  const agents = entryOf(map, "agents");
  const table = defaults === null ? null : capabilitiesOf(defaults.value, "`defaults`", diagnostics);
  if (defaults !== null && table === null) return null;
  const byAgent = new Map<string, PolicyTable>();
  if (agents !== null && agents.value.kind !== "map") {
    diagnostics.error("wrong_type", agents.value.span, `\`agents\` is a map of agents, not ${kindName(agents.value)}`);
    return null;
  }
  for (const { key, value } of agents?.value.kind === "map" ? agents.value.entries : []) {
    byAgent.set(key, capabilitiesOf(value, `the agent ${quoteText(key)}`, diagnostics) ?? DENY_ALL);
  }
  return { defaults: table, agents: byAgent };
}

/** `{capabilities: {...}}`; without the key an empty table. */
function capabilitiesOf(node: TreeNode, what: string, diagnostics: Diagnostics): PolicyTable | null {
  const map = mapAt(node, node.span, what, ["capabilities"], diagnostics);
  if (map === null) return null;
  const capabilities = entryOf(map, "capabilities");
  return capabilities === null ? new Map() : readPolicyTable(capabilities.value, diagnostics);
}

/** A map with no other keys than these. */
function mapAt(
  node: TreeNode,
  span: Span,
  what: string,
  keys: readonly string[],
  diagnostics: Diagnostics,
): Mapping | null {
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", span, `${what} is a map, not ${kindName(node)}`);
    return null;
  }
  const unknown = node.entries.filter(({ key }) => !keys.includes(key));
  for (const { key, keySpan } of unknown) {
    diagnostics.error("unknown_key", keySpan, `${quoteText(key)} is not part of ${what}; it grants nothing`, {
      suggestion: nearestName(key, keys),
    });
  }
  return unknown.length === 0 ? node : null;
}
