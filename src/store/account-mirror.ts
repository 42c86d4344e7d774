// Accounts as they are known without waiting: read from the database when first asked for, changed only inside a commit.
import type { Connection } from "./connection.ts";
import { numberOf, textOf } from "./connection.ts";
import { type Stretch, stretchesMax } from "./rate.ts";
import type { Row } from "./sqlite.ts";

const accountsMax = 10_000;

export interface Account {
  readonly number: number;
  readonly name: string;
  readonly family: string;
  used: number;
  at: number;
  isLeft: boolean;
  /** Null until a rate asks for them. */
  stretches: Stretch[] | null;
}

const COLUMNS = "number, name, family, used, at, is_left";

export class AccountMirror {
  readonly #accounts = new Map<string, Account>();

  /** Undefined where nothing was ever spent. */
  find(connection: Connection, name: string): Account | undefined {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const row = connection.get(`SELECT ${COLUMNS} FROM account WHERE name = ?`, name);
    return row === undefined ? undefined : this.#keep(accountOf(row));
  }

  family(connection: Connection, family: string): readonly Account[] {
    const rows = connection.all(`SELECT ${COLUMNS} FROM account WHERE family = ?`, family);
    return rows.map((row) => this.#accounts.get(textOf(row, "name")) ?? this.#keep(accountOf(row)));
  }

  stretches(connection: Connection, account: Account): Stretch[] {
    account.stretches ??= connection
      .all("SELECT number, calls, at FROM stretch WHERE account = ? ORDER BY number", account.number)
      .map((row) => ({ number: numberOf(row, "number"), calls: numberOf(row, "calls"), at: numberOf(row, "at") }));
    return account.stretches;
  }

  open(connection: Connection, name: string, family: string, used: number, at: number): Account {
    const row = connection.get(
      `INSERT INTO account (name, family, used, at, is_left) VALUES (?, ?, ?, ?, 0) RETURNING ${COLUMNS}`,
      ...[name, family, used, at],
    );
    return this.#keep({ ...accountOf(row), stretches: [] });
  }

  save(connection: Connection, account: Account): void {
    const { used, at, isLeft, number } = account;
    connection.run("UPDATE account SET used = ?, at = ?, is_left = ? WHERE number = ?", used, at, isLeft ? 1 : 0, number);
  }

  saveStretch(connection: Connection, account: Account, stretch: Stretch): void {
    const stretches = this.stretches(connection, account);
    const { number, calls, at } = stretch;
    connection.run(
      `INSERT INTO stretch (account, number, calls, at) VALUES (?, ?, ?, ?)
       ON CONFLICT (account, number) DO UPDATE SET calls = excluded.calls, at = excluded.at`,
      ...[account.number, number, calls, at],
    );
    if (stretches.at(-1)?.number === number) stretches.pop();
    stretches.push(stretch);
    const old = stretches.length > stretchesMax ? stretches.shift() : undefined;
    if (old !== undefined)
      connection.run("DELETE FROM stretch WHERE account = ? AND number = ?", account.number, old.number);
  }

  /** The calls of another account in place of its own. */
  takeOver(connection: Connection, account: Account, from: Account): void {
    account.stretches = [...this.stretches(connection, from)];
    connection.run("DELETE FROM stretch WHERE account = ?", account.number);
    connection.run(
      "INSERT INTO stretch (account, number, calls, at) SELECT ?, number, calls, at FROM stretch WHERE account = ?",
      ...[account.number, from.number],
    );
  }

  drop(): void {
    this.#accounts.clear();
  }

  #keep(account: Account): Account {
    // The database has them all; forgetting is always right.
    if (this.#accounts.size >= accountsMax) this.#accounts.clear();
    this.#accounts.set(account.name, account);
    return account;
  }
}

function accountOf(row: Row | undefined): Account {
  return {
    number: numberOf(row, "number"),
    name: textOf(row, "name"),
    family: textOf(row, "family"),
    used: numberOf(row, "used"),
    at: numberOf(row, "at"),
    isLeft: numberOf(row, "is_left") === 1,
    stretches: null,
  };
}
