// What calls cost in tokens and money. A cost is known only afterwards: before a call the most that it can cost is reserved
// in each account, and after it the reservation is replaced by the cost.
// INVARIANT: a reservation that is never settled (a crash, a lost report) stays charged.
import type { AccountCharge, Cost } from "../../core/ports/stores/ledger.ts";
import { type Connection, numberOf } from "../connection.ts";

export interface CostTotal {
  readonly tokens: number;
  readonly money: number;
}

export const NO_COST: CostTotal = { tokens: 0, money: 0 };

/** Of one account, not yet settled. */
export function reservedIn(connection: Connection, account: number): CostTotal {
  const row = connection.get(
    "SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(money), 0) AS money FROM reservation WHERE account = ?",
    account,
  );
  return { tokens: numberOf(row, "tokens"), money: numberOf(row, "money") };
}

/** Infinite without a limit; 0 if a limit is not a number. */
export function costLeftOf({ tokens, money }: AccountCharge, used: CostTotal): CostTotal {
  const left = (limit: number | null, spent: number): number => {
    const rest = limit === null ? Number.POSITIVE_INFINITY : limit - spent;
    return Number.isNaN(rest) ? 0 : Math.max(rest, 0);
  };
  return { tokens: left(tokens, used.tokens), money: left(money, used.money) };
}

/** Whether `times` calls of this cost fit. Without a cost, or without a price where money is limited, none does. */
export function costFits(charge: AccountCharge, used: CostTotal, cost: Cost | undefined, times: number): boolean {
  if (charge.tokens === null && charge.money === null) return true;
  if (cost === undefined || (charge.money !== null && cost.money === null)) return false;
  const left = costLeftOf(charge, used);
  // An account with nothing left is empty for calls without a cost, too.
  const isWithin = (rest: number, needed: number): boolean => rest > 0 && needed * times <= rest;
  return isWithin(left.tokens, cost.tokens) && isWithin(left.money, cost.money ?? 0);
}

export function reserve(connection: Connection, decision: string, account: number, cost: Cost): void {
  connection.run(
    `INSERT INTO reservation (decision, account, tokens, money) VALUES (?, ?, ?, ?)
     ON CONFLICT (decision, account) DO UPDATE SET tokens = tokens + excluded.tokens, money = money + excluded.money`,
    ...[decision, account, cost.tokens, cost.money ?? 0],
  );
}

/** Inside a transaction. A decision that reserved nothing, or was settled before, changes nothing. */
export function settleCost(connection: Connection, decision: string, cost: Cost | null): void {
  const rows = connection.all("SELECT account, tokens, money FROM reservation WHERE decision = ?", decision);
  for (const row of rows) {
    const [tokens, money] = [cost?.tokens ?? numberOf(row, "tokens"), cost?.money ?? numberOf(row, "money")];
    connection.run(
      "UPDATE account SET tokens = min(tokens + ?, ?), money = min(money + ?, ?) WHERE number = ?",
      ...[tokens, Number.MAX_SAFE_INTEGER, money, Number.MAX_SAFE_INTEGER, numberOf(row, "account")],
    );
  }
  connection.run("DELETE FROM reservation WHERE decision = ?", decision);
}
