// What a run of a task may spend: it starts only if every account that pays for it has something left, and ends when its seconds
// are used up. Calls, tokens and money are charged by the session's own calls.
import type { RunTime, Task } from "../../core/ports/stores/task-store.ts";
import type { AccountLimits } from "../../org/budget.ts";
import type { RunReport } from "../../org/task-life.ts";
import { Budgets, spentAccount } from "../calls/budgets.ts";
import type { DaemonParts } from "../parts.ts";

export interface RunFunds {
  readonly ok: true;
  /** Null: no budget of seconds. */
  readonly milliseconds: number | null;
  /** The budget that ends first. */
  readonly name: string;
  /** The run has ended. */
  close(): RunTime;
}

export type FundsResult = RunFunds | { readonly ok: false; readonly report: RunReport; readonly reason: string };

/** Other runs have what is left; some of it may come back. */
const waitMilliseconds = 15_000;

export class RunBudgets {
  readonly #parts: Pick<DaemonParts, "records" | "stores" | "now">;
  readonly #budgets: Budgets;
  /** Milliseconds that running runs may still take, by account. */
  readonly #reserved = new Map<string, number>();

  constructor(parts: Pick<DaemonParts, "records" | "stores" | "now">) {
    this.#parts = parts;
    this.#budgets = new Budgets(parts);
  }

  async open(task: Task): Promise<FundsResult> {
    const { stores, now } = this.#parts;
    const limits = this.#budgets.ofTask(task, now());
    const spent = spentAccount(limits, stores.ledger, now());
    if (spent !== null) return unfunded(spent, spent.ends);
    const timed = limits.filter(({ milliseconds }) => milliseconds !== null);
    const accounts = timed.map(({ account }) => account);
    const used = timed.length === 0 ? null : await stores.tasks.timeOf(accounts);
    if (used?.ok === false)
      return { ok: false, report: { kind: "ended", status: null, reason: used.message }, reason: used.message };
    let least: { readonly limits: AccountLimits; readonly left: number } | null = null;
    for (const one of timed) {
      const rest = (one.milliseconds ?? 0) - (used?.value.get(one.account) ?? 0);
      if (rest <= 0) return unfunded(one, one.ends);
      const left = rest - (this.#reserved.get(one.account) ?? 0);
      if (left <= 0) return unfunded(one, now() + waitMilliseconds, "is reserved for runs that have not ended");
      if (least === null || left < least.left) least = { limits: one, left };
    }
    const taken = Math.min(least?.left ?? task.timeoutMilliseconds, task.timeoutMilliseconds);
    const reserve = (milliseconds: number): void => {
      for (const account of accounts) this.#reserved.set(account, (this.#reserved.get(account) ?? 0) + milliseconds);
    };
    reserve(taken);
    const began = now();
    return {
      ok: true,
      milliseconds: least === null ? null : taken,
      name: least?.limits.name ?? "",
      close: () => {
        reserve(-taken);
        return { accounts, milliseconds: now() - began };
      },
    };
  }

  /** Of a run whose end was not seen: as long as it can have taken. */
  lost(task: Task): RunTime | null {
    if (task.started === null) return null;
    const limits = this.#budgets.ofTask(task, task.started).filter(({ milliseconds }) => milliseconds !== null);
    const milliseconds = Math.min(task.timeoutMilliseconds, Math.max(0, this.#parts.now() - task.started));
    return { accounts: limits.map(({ account }) => account), milliseconds };
  }
}

/** Without an end another run would meet the same. */
function unfunded({ name }: AccountLimits, until: number | null, what = "is used up"): FundsResult {
  const reason = `the ${name} ${what}`;
  const report: RunReport =
    until === null ? { kind: "denied", reason: `budget_exhausted: ${reason}` } : { kind: "unfunded", until, reason };
  return { ok: false, report, reason };
}
