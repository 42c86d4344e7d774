// The org tables that outer configuration brings: defaults for everybody, and tables for single agents.
import type { Span } from "../../authority/grant.ts";
import {
  CAPABILITIES,
  type Capability,
  effectivePolicy,
  type PolicyTable,
  type Ruling,
  type RulingPlaces,
} from "./policy-table.ts";

export interface OuterPolicies {
  readonly org: PolicyTable | null;
  readonly agents: ReadonlyMap<string, PolicyTable>;
  /** Where the rulings are written; without it nowhere that could be shown. */
  readonly places?: PolicyPlaces;
}

export interface PolicyPlaces {
  readonly org: RulingPlaces;
  readonly agents: ReadonlyMap<string, RulingPlaces>;
}

export const NO_PLACES: PolicyPlaces = { org: new Map(), agents: new Map() };

/** A table of a level, and where it is written. */
interface PlacedTable {
  readonly table: PolicyTable | null | undefined;
  readonly places: RulingPlaces | undefined;
}

/** From the least to the most generous. */
const ORDER: readonly Ruling[] = ["deny", "ask", "allow"];

/** Two tables of the same level: where both speak, the stricter one holds. Null only where there is no table at all. */
export function stricter(left: PolicyTable | null, right: PolicyTable | null): PolicyTable | null {
  if (left === null || right === null) return left ?? right;
  const table = new Map<Capability, Ruling>();
  for (const capability of CAPABILITIES) {
    const rulings = [left.get(capability), right.get(capability)];
    const ruling = ORDER.find((one) => rulings.includes(one));
    if (ruling !== undefined) table.set(capability, ruling);
  }
  return table;
}

/** Whether every ruling of `held` is at least as strict in `wanted`, where silence is the least strict. */
export function isAsStrict(wanted: PolicyTable, held: PolicyTable): boolean {
  return [...held].every(([capability, ruling]) => {
    return ORDER.indexOf(wanted.get(capability) ?? "allow") <= ORDER.indexOf(ruling);
  });
}

/** The rulings of a table, each as strict as `limit` where that speaks of it too. INVARIANT: no capability is added. */
export function narrowedBy(table: PolicyTable | null, limit: PolicyTable | null): PolicyTable | null {
  if (table === null) return null;
  return new Map([...(stricter(table, limit) ?? [])].filter(([capability]) => table.has(capability)));
}

const NO_BASE: PolicyTable = new Map();

/**
 * What an agent is denied or asked for, whatever its text grants: the denials of its own table or else of the defaults,
 * and everything a configuration says about the agent by name.
 */
export function limitsFor(own: PolicyTable | null, policies: OuterPolicies | undefined, id: string): PolicyTable {
  const denied = [...effectivePolicy(own, policies?.org ?? null, NO_BASE)].filter(
    ([, { ruling }]) => ruling === "deny",
  );
  const named = policies?.agents.get(id) ?? null;
  return stricter(new Map(denied.map(([capability]) => [capability, "deny"])), named) ?? new Map();
}

/** Where each ruling that holds was written: by the first of the tables that says it. */
export function placesIn(table: PolicyTable | null, tables: readonly PlacedTable[]): RulingPlaces {
  const places = new Map<Capability, Span>();
  for (const [capability, ruling] of table ?? []) {
    const place = tables.find((one) => one.table?.get(capability) === ruling)?.places?.get(capability);
    if (place !== undefined) places.set(capability, place);
  }
  return places;
}
