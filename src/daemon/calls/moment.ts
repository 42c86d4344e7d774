// Data shared by all decisions under one holding, computed once: its accounts and its revocable links.
import type { Moment } from "../../core/authority/compiled.ts";
import type { Stores } from "../parts.ts";
import type { Session } from "../session.ts";
import type { AccountMap, Accounts } from "./accounts.ts";
import { MACHINE_SCOPE } from "./generations.ts";
import type { Holding } from "./holding.ts";

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
    this.#exhausted =
      counted === null
        ? null
        : (id, grant) => {
            const charge = counted.get(id)?.get(grant);
            return charge !== undefined && kept.ledger.isEmpty(charge, this.#at);
          };
  }

  /** Account balances are read as of the latest time seen. */
  moment(at: number): Moment {
    this.#at = at;
    const { session } = this;
    return {
      now: Number.isFinite(at) ? at : clockFar,
      clean: session.isClean,
      generation: this.#kept.ledger.generation(session.scope),
      revoked: this.#revoked,
      frozen: this.#frozen,
      exhausted: this.#exhausted,
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
