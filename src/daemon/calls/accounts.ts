// Accounts: which account a grant or a link is charged to, so that no edit, new session or new agent gets a fresh budget.

import type { Authority } from "../../core/authority/chain.ts";
import { type Moment, WHOLE_LINK } from "../../core/authority/compiled.ts";
import { type Grant, isCounted, UNCONDITIONAL } from "../../core/authority/grant.ts";
import type { Link } from "../../core/authority/link.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { Charge } from "../../core/ports/stores/commit.ts";
import type { AccountCharge, Cost, Ledger } from "../../core/ports/stores/ledger.ts";
import type { Stores } from "../parts.ts";
import type { Session } from "../session.ts";
import { MACHINE_SCOPE } from "./generations.ts";
import type { Holding } from "./holding.ts";

/** Accounts of an authority, by link id and by grant. */
export type AccountMap = ReadonlyMap<string, ReadonlyMap<number, AccountCharge>>;

/** INVARIANT: an account is named by the link and by what the grant covers, never by its position in the text. */
export class Accounts {
  readonly #digest: Digest;
  /** Links are compiled once per text, so account names are computed once per link. */
  readonly #known = new WeakMap<Link, ReadonlyMap<number, AccountCharge>>();

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  /** Null if nothing is counted. Of links with the same id the first counts, as chains are tried in order. */
  counted(authority: Authority, user: string | null): AccountMap | null {
    const counted = new Map<string, ReadonlyMap<number, AccountCharge>>();
    for (const chain of authority)
      for (const { link } of chain) if (!counted.has(link.id)) counted.set(link.id, this.#of(link, user));
    return [...counted.values()].some(({ size }) => size > 0) ? counted : null;
  }

  #of(link: Link, user: string | null): ReadonlyMap<number, AccountCharge> {
    const known = this.#known.get(link);
    if (known !== undefined) return known;
    const charges = this.#chargesOf(link, user);
    if (!link.grants.some(({ conditions }) => conditions.per !== null)) this.#known.set(link, charges);
    return charges;
  }

  #chargesOf(link: Link, user: string | null): Map<number, AccountCharge> {
    const charges = new Map<number, AccountCharge>();
    if (link.calls !== null) {
      const account = `${ownerOf(link)} *`;
      const limits = { calls: link.calls, rate: null, tokens: null, money: null };
      charges.set(WHOLE_LINK, { account, ...limits, family: account, written: [account] });
    }
    const counted = [...link.grants.entries()].filter(([, { conditions }]) => isCounted(conditions));
    const named = counted.map(([index, grant]) => ({
      index,
      grant,
      account: this.#nameOf(link, grant) + suffixOf(grant, user),
    }));
    for (const { index, grant, account } of named) {
      const { calls, rate, tokens, money, per } = grant.conditions;
      const isKin = (one: Grant): boolean => one.verb === grant.verb && one.conditions.per === per;
      const kin = named.filter((one) => isKin(one.grant)).map((one) => one.account);
      const family = `${ownerOf(link)} ${grant.verb.verb}${suffixOf(grant, user)}`;
      charges.set(index, { account, calls, rate, tokens, money, family, written: kin });
    }
    return charges;
  }

  #nameOf(link: Link, grant: Grant): string {
    const { principals } = grant.conditions;
    const covered = compactText({ ...grant, conditions: { ...UNCONDITIONAL, principals } });
    return `${ownerOf(link)} ${grant.verb.verb} ${this.#digest(covered).slice(0, 24)}`;
  }
}

/** With `per: user` each user has an account; sessions without a user share one. */
function suffixOf({ conditions: { per } }: Grant, user: string | null): string {
  return per === null ? "" : ` ${per} ${user ?? "-"}`;
}

function ownerOf({ account, id }: Link): string {
  return account ?? id;
}

/**
 * Null if a charge matches no account here, and then it may allow nothing. INVARIANT: a call charges an account once, however
 * many links of its chains share it, and the strictest of their limits applies.
 */
export function chargesIn(counted: AccountMap | null, charges: readonly Charge[]): readonly AccountCharge[] | null {
  const found = new Map<string, AccountCharge>();
  for (const { link, grant } of charges) {
    const charge = counted?.get(link)?.get(grant);
    if (charge === undefined) return null;
    const other = found.get(charge.account);
    found.set(charge.account, other === undefined ? charge : stricterCharge(charge, other));
  }
  return [...found.values()];
}

function stricterCharge(left: AccountCharge, right: AccountCharge): AccountCharge {
  const [first, second] = [left.rate, right.rate];
  const isFirstSlower =
    second === null || (first !== null && first.calls / first.seconds <= second.calls / second.seconds);
  return {
    ...left,
    calls: smaller(left.calls, right.calls),
    rate: isFirstSlower ? first : second,
    tokens: smaller(left.tokens, right.tokens),
    money: smaller(left.money, right.money),
  };
}

function smaller(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : Math.min(left, right);
}

function least(numbers: readonly number[]): number {
  return Math.min(Number.POSITIVE_INFINITY, ...numbers);
}

const clockFar = 8_640_000_000_000_000;

type Generations = readonly (readonly [scope: string, generation: number])[];

export class HoldingMoments {
  readonly session: Session;
  readonly accounts: AccountMap | null;
  readonly #kept: Stores;
  readonly #revoked: NonNullable<Moment["revoked"]>;
  readonly #frozen: () => boolean;
  readonly #exhausted: Moment["exhausted"];
  #generations: Generations = [];
  #at = 0;

  constructor(session: Session, holding: Holding, kept: Stores, accounts: Accounts, isFrozen: () => boolean) {
    const counted = accounts.counted(holding.authority, session.facts.user);
    // Nothing else can be revoked, and looking up other ids in the store would cost more than the decision.
    const delegated = new Set(holding.links.flat());
    const isRevoked = (id: string): boolean => delegated.has(id) && (kept.links.get(id)?.revoked ?? null) !== null;
    this.session = session;
    this.accounts = counted;
    this.#kept = kept;
    this.#frozen = isFrozen;
    this.#revoked = (id) => session.isClosed || isRevoked(id);
    this.#exhausted = this.#exhaustedBy(undefined);
  }

  #exhaustedBy(cost: Cost | undefined): Moment["exhausted"] {
    const { accounts } = this;
    if (accounts === null) return null;
    return (id, grant) => {
      const charge = accounts.get(id)?.get(grant);
      return charge !== undefined && this.#kept.ledger.isEmpty(charge, this.#at, cost);
    };
  }

  /** What is left in all of these accounts; null if one of them is unknown. */
  costLeft(charges: readonly Charge[]): ReturnType<Ledger["costLeft"]> | null {
    const left = chargesIn(this.accounts, charges)?.map((charge) => this.#kept.ledger.costLeft(charge)) ?? null;
    if (left === null) return null;
    return { tokens: least(left.map(({ tokens }) => tokens)), money: least(left.map(({ money }) => money)) };
  }

  /** Account balances are read as of the latest time seen. */
  moment(at: number, cost?: Cost): Moment {
    this.#at = at;
    const { session } = this;
    return {
      now: Number.isFinite(at) ? at : clockFar,
      clean: session.isClean,
      generation: this.#kept.ledger.generation(session.scope),
      revoked: this.#revoked,
      frozen: this.#frozen,
      exhausted: cost === undefined ? this.#exhausted : this.#exhaustedBy(cost),
      principals: session.principals,
    };
  }

  /** Current generations of the machine and of its agent. */
  generations(): Generations {
    const { ledger } = this.#kept;
    const { scope } = this.session;
    const [all, own] = [ledger.generation(MACHINE_SCOPE), ledger.generation(scope)];
    const [first, second] = this.#generations;
    if (first?.[1] !== all || second?.[1] !== own)
      this.#generations = [
        [MACHINE_SCOPE, all],
        [scope, own],
      ];
    return this.#generations;
  }
}
