// The org tables that outer configuration brings: defaults for everybody, and tables for single agents.
import { CAPABILITIES, type Capability, type PolicyTable, type Ruling } from "./policy-table.ts";

export interface OuterPolicies {
  readonly org: PolicyTable | null;
  readonly agents: ReadonlyMap<string, PolicyTable>;
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
