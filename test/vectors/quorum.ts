// Org policy: an agent's table over the org's over the base of the file.
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import {
  effectivePolicy,
  type PolicyTable,
  policyRequests,
  readPolicyTable,
} from "../../src/core/notation/policy/policy.ts";
import { treeOf } from "./json-tree.ts";
import type { Family } from "./outcome.ts";
import { has, mapAt, mapOr, type Row, textsAt } from "./row.ts";

/** Columns that are flags of a client: not compared, since we do not implement them. */
export const FLAG_COLUMNS = ["allowedTools", "disallowedTools"] as const;

export const policyResolution: Family = {
  answers: ["effective", "requests", ...FLAG_COLUMNS],
  run: (row, file) => {
    const effective = effectivePolicy(
      table(mapOr(row, "agent")),
      table(mapOr(row, "org")),
      table(mapAt(file.header, "base")),
    );
    const rulings = Object.fromEntries([...effective].map(([capability, { ruling }]) => [capability, ruling]));
    const expected: Record<string, Json> = {};
    // A capability that the row does not show is not compared.
    if (has(row, "effective")) expected["effective"] = { ...rulings, ...mapAt(row, "effective") };
    if (has(row, "requests")) expected["requests"] = [...textsAt(row, "requests")].sort();
    return {
      kind: "compared",
      expected,
      got: { effective: rulings, requests: policyRequests(effective).sort() },
      wider: isWider(mapOr(row, "effective"), rulings),
    };
  },
};

function table(value: JsonObject): PolicyTable {
  const diagnostics = new Diagnostics();
  const read = readPolicyTable(treeOf(value), diagnostics);
  if (read === null) throw new Error(diagnostics.list.map((one) => one.message).join("; "));
  return read;
}

const RULINGS = ["deny", "ask", "allow"];

function isWider(expected: JsonObject, got: JsonObject): boolean {
  return Object.entries(expected).some(
    ([capability, ruling]) => RULINGS.indexOf(String(got[capability])) > RULINGS.indexOf(String(ruling)),
  );
}

export function flagColumns(row: Row): number {
  return FLAG_COLUMNS.filter((column) => has(row, column)).length;
}
