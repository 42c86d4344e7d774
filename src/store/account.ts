// Charging accounts: all of them or none, and no edit of what is written gives back what was spent.
import type { AccountCharge, AccountLeft } from "../ports/ledger.ts";
import { type Account, AccountMirror } from "./account-mirror.ts";
import type { Connection } from "./connection.ts";
import { callsWithin, nextStretch, type Stretch } from "./rate.ts";
import type { Mirror } from "./trusted-connection.ts";

export type Charged =
  | { readonly ok: true; readonly left: readonly AccountLeft[] }
  | { readonly ok: false; readonly empty: readonly string[] };

/** Where an account stands before the call, what it takes over from others of its family included. */
interface Standing {
  readonly account: Account | undefined;
  readonly used: number;
  readonly stretches: readonly Stretch[];
  /** Whose stretches those are. */
  readonly from: Account | undefined;
}

const NONE: readonly Stretch[] = [];

export class Accounts implements Mirror {
  readonly #mirror = new AccountMirror();
  /** By family: what was written of it when it was last charged. */
  readonly #written = new Map<string, Written>();

  load(connection: Connection): void {
    this.#mirror.load(connection);
  }

  drop(): void {
    this.#mirror.drop();
    this.#written.clear();
  }

  /** At the end of every commit. */
  flush(connection: Connection): void {
    this.#mirror.flush(connection);
  }

  list(connection: Connection, family: string | null, count: number): readonly Account[] {
    return this.#mirror.list(connection, family, count);
  }

  isEmpty(connection: Connection, charge: AccountCharge, now: number): boolean {
    return leftOf(charge, this.#standing(connection, charge, now), now) < 1;
  }

  /** Inside a transaction. Where one is empty nothing was changed, here or there. */
  charge(connection: Connection, charges: readonly AccountCharge[], at: number): Charged {
    const taken = new Map<string, number>();
    const empty: string[] = [];
    for (const charge of charges) {
      const before = taken.get(charge.account) ?? 0;
      if (!(leftOf(charge, this.#standing(connection, charge, at), at) - before >= 1)) empty.push(charge.account);
      taken.set(charge.account, before + 1);
    }
    if (empty.length > 0) return { ok: false, empty: [...new Set(empty)] };
    for (const charge of charges) this.#take(connection, charge, at);
    const left: AccountLeft[] = [];
    for (const charge of charges) {
      const many = leftOf(charge, this.#standing(connection, charge, at), at);
      // What nobody counts has nothing left to tell.
      if (Number.isFinite(many)) left.push({ account: charge.account, left: many });
    }
    return { ok: true, left };
  }

  #standing(connection: Connection, charge: AccountCharge, now: number): Standing {
    const account = this.#mirror.find(connection, charge.account);
    const own = account === undefined || charge.rate === null ? NONE : this.#mirror.stretches(connection, account);
    let standing: Standing = { account, used: account?.used ?? 0, stretches: own, from: account };
    if (account !== undefined && !account.isLeft) return standing;
    for (const kin of this.#unwritten(connection, charge)) {
      standing = { ...standing, used: Math.max(standing.used, kin.used) };
      if (charge.rate === null) continue;
      const stretches = this.#mirror.stretches(connection, kin);
      const { seconds } = charge.rate;
      if (callsWithin(stretches, seconds, now) > callsWithin(standing.stretches, seconds, now))
        standing = { ...standing, stretches, from: kin };
    }
    return standing;
  }

  #unwritten(connection: Connection, { account, family, written }: AccountCharge): readonly Account[] {
    const kept = new Set(written);
    return this.#mirror.family(connection, family).filter(({ name }) => name !== account && !kept.has(name));
  }

  #take(connection: Connection, charge: AccountCharge, at: number): void {
    const standing = this.#standing(connection, charge, at);
    const account = this.#opened(connection, charge, standing, at);
    account.used = standing.used + 1;
    account.at = at;
    account.isLeft = false;
    this.#mirror.change(account);
    if (charge.rate !== null) {
      const stretches = this.#mirror.stretches(connection, account);
      this.#mirror.addStretch(connection, account, nextStretch(stretches, charge.rate, at));
    }
    this.#leave(connection, charge);
  }

  /** The account itself, with the calls it takes over in place of its own. */
  #opened(connection: Connection, charge: AccountCharge, standing: Standing, at: number): Account {
    const { account: found, used, from } = standing;
    const account = found ?? this.#mirror.open(connection, charge.account, charge.family, used, at);
    if (from !== undefined && from !== account) this.#mirror.takeOver(connection, account, from);
    return account;
  }

  /** Those that are not written any more are marked: should they be written again, they take over what was spent since. */
  #leave(connection: Connection, charge: AccountCharge): void {
    const known = this.#written.get(charge.family);
    // The same list again, as of every call that the same text decides, needs no spelling out.
    if (known?.list === charge.written) return;
    const text = JSON.stringify(charge.written);
    if (known?.text === text) {
      this.#written.set(charge.family, { list: charge.written, text });
      return;
    }
    for (const kin of this.#unwritten(connection, charge)) {
      if (kin.isLeft) continue;
      kin.isLeft = true;
      this.#mirror.change(kin);
    }
    if (this.#written.size >= familiesMax) this.#written.clear();
    this.#written.set(charge.family, { list: charge.written, text });
  }
}

interface Written {
  readonly list: readonly string[];
  readonly text: string;
}

const familiesMax = 10_000;

/** Infinite where neither is counted. What is no number leaves nothing. */
function leftOf({ calls, rate }: AccountCharge, { used, stretches }: Standing, now: number): number {
  const altogether = calls === null ? Number.POSITIVE_INFINITY : calls - used;
  const lately = rate === null ? Number.POSITIVE_INFINITY : rate.calls - callsWithin(stretches, rate.seconds, now);
  const left = Math.min(altogether, lately);
  return Number.isNaN(left) ? 0 : Math.max(left, 0);
}
