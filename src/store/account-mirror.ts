// Accounts as they are known without waiting: read from the database when first asked for, changed only inside a commit. Where
// a plain count stands is written with the entries that charged it, and to the accounts' own table once in a while.
import { headOf } from "./append.ts";
import type { Connection } from "./connection.ts";
import { numberOf, textOf } from "./connection.ts";
import { type Stretch, stretchesMax } from "./rate.ts";
import type { Row } from "./sqlite.ts";

const accountsMax = 10_000;
/** So many entries at most are looked through for where accounts stand, when the state is opened. */
export const accountsBehindEntriesMax = 8_192;

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

/** As a leaf says it: the account's number, what was used, when last, and whether its family went on without it. */
type Standing = readonly [number: number, used: number, at: number, isLeft: number];

/** Throws for what is none: then nothing of the state is believed. */
function standingsIn(text: string): readonly Standing[] {
  const standings = JSON.parse(text) as readonly Standing[];
  for (const one of standings)
    if (!one.every(Number.isSafeInteger)) throw new TypeError("where an account stands is no number");
  return standings;
}

const COLUMNS = "number, name, family, used, at, is_left";

export class AccountMirror {
  readonly #accounts = new Map<string, Account>();
  readonly #changed = new Set<Account>();
  /** Those that stand further than their own table says. INVARIANT: none of them is forgotten. */
  readonly #ahead = new Set<Account>();

  /** What leaves say since the table was last right. */
  load(connection: Connection): void {
    const leaves = connection.all(
      "SELECT accounts FROM leaf WHERE last > ? AND accounts IS NOT NULL ORDER BY last",
      connection.progress.accounts,
    );
    const standing = new Map<number, Standing>();
    for (const leaf of leaves) for (const one of standingsIn(textOf(leaf, "accounts"))) standing.set(one[0], one);
    for (const [number, used, at, isLeft] of standing.values()) {
      const row = connection.get(`SELECT ${COLUMNS} FROM account WHERE number = ?`, number);
      this.#ahead.add(this.#keep({ ...accountOf(row), used, at, isLeft: isLeft === 1 }));
    }
  }

  /** All of a family, or all there are, in the order they were opened in. */
  list(connection: Connection, family: string | null, count: number): readonly Account[] {
    const text = `SELECT ${COLUMNS} FROM account WHERE ?1 IS NULL OR family = ?1 ORDER BY number LIMIT ?2`;
    return connection.all(text, family, count).map((row) => this.#accounts.get(textOf(row, "name")) ?? accountOf(row));
  }

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
    const { accounts, first } = connection.progress;
    // INVARIANT: retention removes no leaf that somebody would still have to look at.
    const isDue = headOf(connection).place - accounts >= accountsBehindEntriesMax || accounts < first - 1;
    // Without entries there is no leaf to write it with.
    if (isDue || this.#accounts.size > accountsMax || connection.lines.length === 0) this.#settle(connection, isDue);
    else this.#note(connection);
    this.#changed.clear();
    // The database has them all; forgetting is always right, once everything is there.
    if (this.#accounts.size > accountsMax) this.#accounts.clear();
  }

  /** Where all of them stand goes with the entries, in the order it came about; times of calls go to their own table. */
  #note(connection: Connection): void {
    const standings: Standing[] = [];
    for (const account of this.#changed) {
      const { number, used, at, isLeft } = account;
      standings.push([number, used, at, isLeft ? 1 : 0]);
      this.#ahead.add(account);
      if (account.unsaved !== NOTHING) this.#flushStretches(connection, account);
    }
    connection.accounts = standings.length === 0 ? null : JSON.stringify(standings);
  }

  #settle(connection: Connection, isDue: boolean): void {
    for (const account of new Set([...this.#ahead, ...this.#changed])) {
      const { used, at, isLeft, number } = account;
      connection.run(
        "UPDATE account SET used = ?, at = ?, is_left = ? WHERE number = ?",
        ...[used, at, isLeft ? 1 : 0, number],
      );
      if (account.unsaved !== NOTHING) this.#flushStretches(connection, account);
    }
    if (isDue || this.#ahead.size > 0) connection.run("UPDATE progress SET accounts = ?", headOf(connection).place);
    this.#ahead.clear();
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
    this.#ahead.clear();
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
