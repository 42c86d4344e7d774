// Budgets of an org: the accounts that a session's calls are charged to besides those of its grants. Its own agent pays, and so
// do the agents that delegated the task it runs, and those that made it.
import type { AccountCharge, Cost, Ledger } from "../../core/ports/stores/ledger.ts";
import type { AgentName, LinkStore } from "../../core/ports/stores/link-store.ts";
import { type AccountLimits, accountLimits, type BudgetMoment, type OwnedBudget } from "../../org/budget.ts";
import { payersBelow } from "../../org/task-life.ts";
import type { DaemonParts, RecordRead } from "../parts.ts";
import type { Session } from "../session.ts";
import { creatorsOf, madeName } from "./agent-names.ts";

const NONE: readonly AccountLimits[] = [];

type BudgetParts = Pick<DaemonParts, "records" | "now"> & {
  readonly stores: { readonly links: Pick<LinkStore, "made" | "allMade"> };
};

export class Budgets {
  readonly #parts: BudgetParts;

  constructor(parts: BudgetParts) {
    this.#parts = parts;
  }

  /** By the files as they are now. INVARIANT: an account is charged once, with the smallest of its limits. */
  of({ facts, task }: Pick<Session, "facts" | "task">, record: RecordRead | null): readonly AccountLimits[] {
    const { workspace } = facts.name;
    if (workspace === null || (task === null && record?.budgets.length === 0)) return NONE;
    const run = task === null ? facts.id : `${task.id} ${task.generation}`;
    return this.#limits(record?.budgets ?? this.#creatorsBudgets(facts.name), task?.payers ?? [], {
      ...{ workspace, run, now: this.#parts.now(), task: task?.id ?? facts.id },
    });
  }

  /** Of a run that began at `now`. */
  ofTask(
    { id, workspace, agent, payers, generation }: TaskOfBudget & { readonly workspace: string; readonly agent: string },
    now: number,
  ): readonly AccountLimits[] {
    return this.#limits([], payersBelow({ payers, agent }), { workspace, now, run: `${id} ${generation}`, task: id });
  }

  #limits(own: readonly OwnedBudget[], payers: readonly string[], at: BudgetMoment): readonly AccountLimits[] {
    const paid = payers.flatMap((payer) => {
      const found = this.#parts.records.record(at.workspace, payer);
      if (found.ok) return found.value.budgets;
      const made = madeName(this.#parts.stores.links, { workspace: at.workspace, agent: payer }, null);
      return made === null ? [] : this.#creatorsBudgets(made);
    });
    const strictest = new Map<string, AccountLimits>();
    for (const limits of accountLimits([...own, ...paid], at)) {
      const other = strictest.get(limits.account);
      strictest.set(limits.account, other === undefined ? limits : stricter(limits, other));
    }
    return [...strictest.values()];
  }

  /** An agent without a text of its own spends what those have that made it. */
  #creatorsBudgets(name: AgentName): readonly OwnedBudget[] {
    const { records, stores } = this.#parts;
    return creatorsOf(stores.links, name).flatMap(({ workspace, agent }) => {
      const found = workspace === null ? null : records.record(workspace, agent);
      return found?.ok === true ? found.value.budgets : [];
    });
  }
}

interface TaskOfBudget {
  readonly id: string;
  readonly generation: number;
  readonly payers: readonly string[];
}

function stricter(left: AccountLimits, right: AccountLimits): AccountLimits {
  const least = (one: number | null, other: number | null): number | null =>
    one === null || other === null ? (one ?? other) : Math.min(one, other);
  return {
    ...left,
    calls: least(left.calls, right.calls),
    tokens: least(left.tokens, right.tokens),
    money: least(left.money, right.money),
    milliseconds: least(left.milliseconds, right.milliseconds),
  };
}

/** What a call without a cost is charged to: accounts of tokens and money are for requests to models. */
export function budgetCharges(limits: readonly AccountLimits[], reserved: Cost | undefined): readonly AccountCharge[] {
  return limits.flatMap(({ account, calls, tokens, money }) => {
    const cost = reserved === undefined ? { tokens: null, money: null } : { tokens, money };
    const isLimited = (calls ?? cost.tokens ?? cost.money) !== null;
    return isLimited ? [{ account, calls, rate: null, ...cost, family: account, written: [account] }] : [];
  });
}

/** The first account with nothing left; null if each has something. */
export function spentAccount(limits: readonly AccountLimits[], ledger: Ledger, now: number): AccountLimits | null {
  const least: Cost = { tokens: 0, money: 0 };
  return limits.find((one) => budgetCharges([one], least).some((charge) => ledger.isEmpty(charge, now, least))) ?? null;
}
