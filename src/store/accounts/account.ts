// Accounts: charged in the transaction of the decision, all of them or none. An edit of the grants never resets what
// was spent.

import type { AccountBalance, AccountCharge, AccountState, Cost } from "../../core/ports/stores/ledger.ts";
import { type Connection, numberOf, textOf } from "../connection.ts";
import type { Row } from "../sqlite.ts";
import type { Mirror } from "../trusted-connection.ts";
import { type CostTotal, costFits, costLeftOf, NO_COST, reserve, reservedIn } from "./cost.ts";
import { addCall, callsWithin, copyCalls } from "./rate.ts";

export type ChargeResult =
  | { readonly ok: true; readonly left: readonly AccountBalance[] }
  | { readonly ok: false; readonly empty: readonly string[] };

interface Account {
  readonly number: number;
  readonly name: string;
  readonly used: number;
  readonly cost: CostTotal;
  /** Its grant was removed. When it is written again, it takes over what the rest of its family spent meanwhile. */
  readonly isLeft: boolean;
}

/** What counts against a charge, including what the account takes over from its family. */
interface Balance {
  readonly account: Account | undefined;
  readonly used: number;
  /** Calls in the window of the rate; 0 without a rate. */
  readonly recent: number;
  /** The account whose calls `recent` counts. */
  readonly source: Account | undefined;
  /** With `reserved`. */
  readonly cost: CostTotal;
  /** By the account itself. */
  readonly reserved: CostTotal;
}

/** In the order in which they were opened. */
export function listAccounts(connection: Connection, family: string | null, count: number): readonly AccountState[] {
  const text = `SELECT name, family, used, at,
      tokens + (SELECT coalesce(sum(tokens), 0) FROM reservation WHERE account = number) AS tokens,
      money + (SELECT coalesce(sum(money), 0) FROM reservation WHERE account = number) AS money
    FROM account WHERE ?1 IS NULL OR family = ?1 ORDER BY number LIMIT ?2`;
  return connection.all(text, family, count).map((row) => ({
    account: textOf(row, "name"),
    family: textOf(row, "family"),
    used: numberOf(row, "used"),
    tokens: numberOf(row, "tokens"),
    money: numberOf(row, "money"),
    at: numberOf(row, "at"),
  }));
}

export function isAccountEmpty(connection: Connection, charge: AccountCharge, now: number, cost: Cost): boolean {
  const balance = balanceOf(connection, charge, now);
  return !(leftOf(charge, balance) >= 1 && costFits(charge, balance.cost, cost, 1));
}

export function accountCostLeft(connection: Connection, charge: AccountCharge): CostTotal {
  return costLeftOf(charge, balanceOf(connection, { ...charge, rate: null }, 0).cost);
}

export interface Reservation {
  readonly decision: string;
  readonly cost: Cost;
}

/** Inside a transaction. If one account is empty, none is changed. */
export function chargeAccounts(
  connection: Connection,
  charges: readonly AccountCharge[],
  at: number,
  reservation: Reservation | null = null,
): ChargeResult {
  const taken = new Map<string, number>();
  const empty = new Set<string>();
  for (const charge of charges) {
    const before = taken.get(charge.account) ?? 0;
    const balance = balanceOf(connection, charge, at);
    const hasCalls = leftOf(charge, balance) - before >= 1;
    if (!hasCalls || !costFits(charge, balance.cost, reservation?.cost, before + 1)) empty.add(charge.account);
    taken.set(charge.account, before + 1);
  }
  if (empty.size > 0) return { ok: false, empty: [...empty] };
  for (const charge of charges) takeOne(connection, charge, at, reservation);
  const left: AccountBalance[] = [];
  for (const charge of charges) {
    const remaining = leftOf(charge, balanceOf(connection, charge, at));
    // Without a limit there is nothing to report.
    if (Number.isFinite(remaining)) left.push({ account: charge.account, left: remaining });
  }
  return { ok: true, left };
}

function balanceOf(connection: Connection, charge: AccountCharge, now: number): Balance {
  const row = connection.get(`SELECT ${COLUMNS} FROM account WHERE name = ?`, charge.account);
  const account = row === undefined ? undefined : accountOf(row);
  const reserved = reservedOf(connection, charge, account);
  let balance: Balance = {
    account,
    used: account?.used ?? 0,
    recent: recentCalls(connection, charge, account, now),
    source: account,
    reserved,
    cost: costOf(account, reserved),
  };
  if (account !== undefined && !account.isLeft) return balance;
  for (const relative of removedRelatives(connection, charge)) {
    const cost = higher(balance.cost, costOf(relative, reservedOf(connection, charge, relative)));
    balance = { ...balance, used: Math.max(balance.used, relative.used), cost };
    const recent = recentCalls(connection, charge, relative, now);
    if (recent > balance.recent) balance = { ...balance, recent, source: relative };
  }
  return balance;
}

/** Not read where no cost is limited. */
function reservedOf(connection: Connection, { tokens, money }: AccountCharge, account: Account | undefined): CostTotal {
  return account === undefined || (tokens ?? money) === null ? NO_COST : reservedIn(connection, account.number);
}

function costOf(account: Account | undefined, reserved: CostTotal): CostTotal {
  const { tokens, money } = account?.cost ?? NO_COST;
  return { tokens: tokens + reserved.tokens, money: money + reserved.money };
}

function higher(left: CostTotal, right: CostTotal): CostTotal {
  return { tokens: Math.max(left.tokens, right.tokens), money: Math.max(left.money, right.money) };
}

function recentCalls(
  connection: Connection,
  { rate }: AccountCharge,
  account: Account | undefined,
  now: number,
): number {
  if (rate === null) return 0;
  // No account has the number 0: it has no calls, and an invalid rate still allows none.
  return callsWithin(connection, account?.number ?? 0, rate, now);
}

/** Accounts of the same family whose grants no longer exist. */
function removedRelatives(connection: Connection, { account, family, written }: AccountCharge): readonly Account[] {
  const names = new Set(written);
  return connection
    .all(`SELECT ${COLUMNS} FROM account WHERE family = ?`, family)
    .map(accountOf)
    .filter(({ name }) => name !== account && !names.has(name));
}

function takeOne(connection: Connection, charge: AccountCharge, at: number, reservation: Reservation | null): void {
  const { account, used, source, cost, reserved } = balanceOf(connection, charge, at);
  const number = account?.number ?? openAccount(connection, charge, at);
  if (source !== undefined && source.number !== number) copyCalls(connection, source.number, number);
  connection.run("UPDATE account SET used = ?, at = ? WHERE number = ?", used + 1, at, number);
  if (account?.isLeft === true) connection.run("UPDATE account SET is_left = 0 WHERE number = ?", number);
  const taken = { tokens: cost.tokens - reserved.tokens, money: cost.money - reserved.money };
  if (taken.tokens > (account?.cost.tokens ?? 0) || taken.money > (account?.cost.money ?? 0))
    connection.run("UPDATE account SET tokens = ?, money = ? WHERE number = ?", taken.tokens, taken.money, number);
  if (reservation !== null) reserve(connection, reservation.decision, number, reservation.cost);
  if (charge.rate !== null) addCall(connection, number, charge.rate, at);
  markRemoved(connection, charge);
}

function openAccount(connection: Connection, { account, family }: AccountCharge, at: number): number {
  const row = connection.get(
    "INSERT INTO account (name, family, used, at, is_left) VALUES (?, ?, 0, ?, 0) RETURNING number",
    ...[account, family, at],
  );
  return numberOf(row, "number");
}

/** Marks the accounts of the family whose grants are gone. */
function markRemoved(connection: Connection, { account, family, written }: AccountCharge): void {
  const active = connection.all("SELECT number, name FROM account WHERE family = ? AND is_left = 0", family);
  // Usually only the account itself.
  if (active.length === 1 && textOf(active[0], "name") === account) return;
  const names = new Set([account, ...written]);
  for (const row of active)
    if (!names.has(textOf(row, "name")))
      connection.run("UPDATE account SET is_left = 1 WHERE number = ?", numberOf(row, "number"));
}

/** Infinite without a limit; 0 if a limit is not a number. */
function leftOf({ calls, rate }: AccountCharge, { used, recent }: Balance): number {
  const total = calls === null ? Number.POSITIVE_INFINITY : calls - used;
  const lately = rate === null ? Number.POSITIVE_INFINITY : rate.calls - recent;
  const left = Math.min(total, lately);
  return Number.isNaN(left) ? 0 : Math.max(left, 0);
}

const COLUMNS = "number, name, used, tokens, money, is_left";

function accountOf(row: Row): Account {
  return {
    number: numberOf(row, "number"),
    name: textOf(row, "name"),
    used: numberOf(row, "used"),
    cost: { tokens: numberOf(row, "tokens"), money: numberOf(row, "money") },
    isLeft: numberOf(row, "is_left") === 1,
  };
}

/** Above every generation: while no state is loaded, everything made before is stale. */
export const UNKNOWN_GENERATION: number = Number.MAX_SAFE_INTEGER;
const BUMP = `INSERT INTO generation (scope, number) VALUES (?, 1)
  ON CONFLICT (scope) DO UPDATE SET number = number + 1 RETURNING number`;

export class Generations implements Mirror {
  #numbers: Map<string, number> | null = null;

  load(connection: Connection): void {
    const rows = connection.all("SELECT scope, number FROM generation");
    this.#numbers = new Map(rows.map((row) => [textOf(row, "scope"), numberOf(row, "number")]));
  }

  drop(): void {
    this.#numbers = null;
  }

  of(scope: string): number {
    return this.#numbers === null ? UNKNOWN_GENERATION : (this.#numbers.get(scope) ?? 0);
  }

  bump(connection: Connection, scopes: readonly string[]): void {
    for (const scope of new Set(scopes)) this.#numbers?.set(scope, numberOf(connection.get(BUMP, scope), "number"));
  }
}
