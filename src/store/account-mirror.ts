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
  /** The first stretch that is not in the database as it is here. */
  unsaved: number;
}

const NOTHING = Number.POSITIVE_INFINITY;

const COLUMNS = "number, name, family, used, at, is_left";

export class AccountMirror {
  readonly #accounts = new Map<string, Account>();
  readonly #changed = new Set<Account>();

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

  /** Written with the others at the end of the commit: a thousand calls of one account are one row. */
  change(account: Account): void {
    this.#changed.add(account);
  }

  addStretch(connection: Connection, account: Account, stretch: Stretch): void {
    const stretches = this.stretches(connection, account);
    if (stretches.at(-1)?.number === stretch.number) stretches.pop();
    stretches.push(stretch);
    if (stretches.length > stretchesMax) stretches.shift();
    account.unsaved = Math.min(account.unsaved, stretch.number);
    this.#changed.add(account);
  }

  flush(connection: Connection): void {
    for (const account of this.#changed) {
      const { used, at, isLeft, number } = account;
      connection.run(
        "UPDATE account SET used = ?, at = ?, is_left = ? WHERE number = ?",
        used,
        at,
        isLeft ? 1 : 0,
        number,
      );
      if (account.unsaved !== NOTHING) this.#flushStretches(connection, account);
    }
    this.#changed.clear();
    // The database has them all; forgetting is always right, once everything is there.
    if (this.#accounts.size > accountsMax) this.#accounts.clear();
  }

  #flushStretches(connection: Connection, account: Account): void {
    const stretches = account.stretches ?? [];
    const first = stretches[0]?.number ?? 1;
    for (const { number, calls, at } of stretches.slice(Math.max(account.unsaved - first, 0)))
      connection.run(
        `INSERT INTO stretch (account, number, calls, at) VALUES (?, ?, ?, ?)
         ON CONFLICT (account, number) DO UPDATE SET calls = excluded.calls, at = excluded.at`,
        ...[account.number, number, calls, at],
      );
    if (first > 1) connection.run("DELETE FROM stretch WHERE account = ? AND number < ?", account.number, first);
    account.unsaved = NOTHING;
  }

  /** The calls of another account in place of its own. */
  takeOver(connection: Connection, account: Account, from: Account): void {
    account.stretches = [...this.stretches(connection, from)];
    connection.run("DELETE FROM stretch WHERE account = ?", account.number);
    account.unsaved = Math.min(account.stretches[0]?.number ?? NOTHING, account.unsaved);
    this.#changed.add(account);
  }

  drop(): void {
    this.#accounts.clear();
    this.#changed.clear();
  }

  #keep(account: Account): Account {
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
    unsaved: NOTHING,
  };
}
