// Limits of what an agent, its team or a whole org spends: dollars, calls, seconds and tokens, over its life, a day, a month, one
// run or one task.
import type { Diagnostics } from "../core/notation/diagnostic.ts";
import { nearestName } from "../core/notation/nearest.ts";
import { quoteText } from "../core/notation/quote-text.ts";
import { kindName } from "../core/notation/scope/scope-values.ts";
import type { Entry } from "../core/notation/tree.ts";

const PERIODS = ["total", "daily", "monthly", "perCycle", "perTask"] as const;
type Period = (typeof PERIODS)[number];
const UNITS = ["Usd", "Calls", "Seconds", "Tokens"] as const;
type Unit = (typeof UNITS)[number];
export type BudgetKey = `${Period}${Unit}`;

const BUDGET_KEYS: readonly BudgetKey[] = PERIODS.flatMap((period) => UNITS.map((unit) => `${period}${unit}` as const));
const TEAM = "team";

/** Amounts by what they are counted over. An absent key is no limit. */
export type Budget = ReadonlyMap<BudgetKey, number>;

/** Null after an error. A number alone is the total in dollars. `team`: of a manager, beside its own. */
export function readBudget({ key: name, value }: Entry, diagnostics: Diagnostics): Budget | null {
  if (value.kind === "scalar" && isAmount(value.value)) return new Map([["totalUsd", value.value]]);
  if (value.kind !== "map") {
    const message = `\`${name}\` is a number of dollars or a map, not ${kindName(value)}`;
    diagnostics.error("wrong_type", value.span, message, { fix: `${name}: 25` });
    return null;
  }
  const budget = new Map<BudgetKey, number>();
  const own = value.entries.filter(({ key }) => key !== TEAM);
  for (const { key: written, keySpan, value: amount } of own) {
    const key = BUDGET_KEYS.find((one) => one === written);
    if (key === undefined)
      diagnostics.error("unknown_key", keySpan, `${quoteText(written)} is not part of a budget`, {
        suggestion: nearestName(written, BUDGET_KEYS),
      });
    else if (amount.kind !== "scalar" || !isAmount(amount.value))
      diagnostics.error("bad_value", amount.span, `\`${key}\` is a number of ${NOUNS[unitOf(key)]}, zero or more`);
    else if (unitOf(key) !== "Usd" && !Number.isSafeInteger(amount.value))
      diagnostics.error("bad_value", amount.span, `\`${key}\` is a whole number of ${NOUNS[unitOf(key)]}`);
    else budget.set(key, amount.value);
  }
  return budget.size === own.length ? budget : null;
}

/** What an agent and everyone below it may spend together; null where nothing is written. */
export function readTeamBudget({ value }: Entry, diagnostics: Diagnostics): Budget | null {
  const entry = value.kind === "map" ? value.entries.find(({ key }) => key === TEAM) : undefined;
  if (entry === undefined) return null;
  if (entry.value.kind === "map" && entry.value.entries.some(({ key }) => key === TEAM)) {
    diagnostics.error("unknown_key", entry.keySpan, "a team has no team of its own");
    return null;
  }
  return readBudget(entry, diagnostics);
}

const NOUNS: Readonly<Record<Unit, string>> = { Usd: "dollars", Calls: "calls", Seconds: "seconds", Tokens: "tokens" };

function unitOf(key: BudgetKey): Unit {
  return UNITS.find((unit) => key.endsWith(unit)) ?? "Usd";
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** A budget with its owner, such as `agent engineer`, `team ceo` or `org`. */
export interface OwnedBudget {
  readonly owner: string;
  readonly budget: Budget;
}

/** Whether `wanted` limits at least as much as `held`. */
export function isBudgetWithin(wanted: readonly OwnedBudget[], held: readonly OwnedBudget[]): boolean {
  return held.every(({ owner, budget }) =>
    [...budget].every(([key, amount]) =>
      wanted.some((one) => one.owner === owner && (one.budget.get(key) ?? Number.POSITIVE_INFINITY) <= amount),
    ),
  );
}

/** The limits of one account: everything that is counted over the same time for the same owner. */
export interface AccountLimits {
  /** Unique on this machine, and another one for each day, month, run and task. */
  readonly account: string;
  /** For people: `daily budget of agent engineer`. */
  readonly name: string;
  readonly calls: number | null;
  readonly tokens: number | null;
  /** In millionths. */
  readonly money: number | null;
  readonly milliseconds: number | null;
  /** When counting begins anew; null: never. */
  readonly ends: number | null;
}

export interface BudgetMoment {
  readonly workspace: string;
  readonly now: number;
  /** The run, and the task it is a run of. */
  readonly run: string;
  readonly task: string;
}

const millionths = 1_000_000;

/** Days and months are those of UTC. */
export function accountLimits(budgets: readonly OwnedBudget[], at: BudgetMoment): readonly AccountLimits[] {
  return budgets.flatMap(({ owner, budget }) =>
    PERIODS.flatMap((period) => {
      const amount = (unit: Unit): number | null => budget.get(`${period}${unit}`) ?? null;
      const [dollars, calls, seconds, tokens] = [amount("Usd"), amount("Calls"), amount("Seconds"), amount("Tokens")];
      if ((dollars ?? calls ?? seconds ?? tokens) === null) return [];
      return [
        {
          account: `budget ${at.workspace} ${owner} ${spanName(period, at)}`,
          name: `${NAMES[period]} budget of ${owner}`,
          ...{ calls, tokens },
          money: dollars === null ? null : Math.floor(dollars * millionths),
          milliseconds: seconds === null ? null : seconds * 1000,
          ends: endOf(period, at.now),
        },
      ];
    }),
  );
}

const NAMES: Readonly<Record<Period, string>> = {
  total: "total",
  daily: "daily",
  monthly: "monthly",
  perCycle: "run",
  perTask: "task",
};

function spanName(period: Period, { now, run, task }: BudgetMoment): string {
  switch (period) {
    case "total":
      return "total";
    case "daily":
      return `day ${Math.floor(now / dayMilliseconds)}`;
    case "monthly":
      return `month ${monthOf(now).number}`;
    case "perCycle":
      return `run ${run}`;
    case "perTask":
      return `task ${task}`;
    default:
      return period satisfies never;
  }
}

const dayMilliseconds = 86_400_000;

function endOf(period: Period, now: number): number | null {
  if (period === "daily") return (Math.floor(now / dayMilliseconds) + 1) * dayMilliseconds;
  return period === "monthly" ? monthOf(now).ends : null;
}

const epochYear = 1970;
const MONTH_DAYS: readonly number[] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Months since January 1970, and when this one ends. From the year that its days fit in, which a pure room has to count itself. */
function monthOf(now: number): { readonly number: number; readonly ends: number } {
  let day = Math.max(0, Math.floor(now / dayMilliseconds));
  const daysIn = (year: number): number => (isLeap(year) ? 366 : 365);
  // A whole cycle of the calendar has 146,097 days.
  const cycles = Math.floor(day / 146_097);
  day -= cycles * 146_097;
  let year = epochYear;
  while (day >= daysIn(year)) day -= daysIn(year++);
  let month = 0;
  const length = (): number => (MONTH_DAYS[month] ?? 31) + (month === 1 && isLeap(year) ? 1 : 0);
  while (day >= length()) {
    day -= length();
    month++;
  }
  const number = (year - epochYear + cycles * 400) * 12 + month;
  return { number, ends: (Math.floor(now / dayMilliseconds) - day + length()) * dayMilliseconds };
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
