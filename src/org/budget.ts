// Limits of what an agent or a whole org spends: dollars over its life, a day, a month, or one run.
import type { Diagnostics } from "../core/notation/diagnostic.ts";
import { nearestName } from "../core/notation/nearest.ts";
import { quoted } from "../core/notation/quoted.ts";
import { kindName } from "../core/notation/scope/scope-values.ts";
import type { Entry } from "../core/notation/tree.ts";

const BUDGET_KEYS = ["totalUsd", "dailyUsd", "monthlyUsd", "perCycleUsd"] as const;
export type BudgetKey = (typeof BUDGET_KEYS)[number];

/** Dollars by what they are counted over. An absent key is no limit. */
export type Budget = ReadonlyMap<BudgetKey, number>;

/** Null after an error. A number alone is the total. */
export function readBudget({ value }: Entry, diagnostics: Diagnostics): Budget | null {
  if (value.kind === "scalar" && isAmount(value.value)) return new Map([["totalUsd", value.value]]);
  if (value.kind !== "map") {
    const message = `\`budget\` is a number of dollars or a map, not ${kindName(value)}`;
    diagnostics.error("wrong_type", value.span, message, { fix: "budget: 25" });
    return null;
  }
  const budget = new Map<BudgetKey, number>();
  for (const { key: written, keySpan, value: amount } of value.entries) {
    const key = BUDGET_KEYS.find((one) => one === written);
    if (key === undefined)
      diagnostics.error("unknown_key", keySpan, `${quoted(written)} is not part of a budget`, {
        suggestion: nearestName(written, BUDGET_KEYS),
      });
    else if (amount.kind !== "scalar" || !isAmount(amount.value))
      diagnostics.error("bad_value", amount.span, `\`${key}\` is a number of dollars, zero or more`);
    else budget.set(key, amount.value);
  }
  return budget.size === value.entries.length ? budget : null;
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
