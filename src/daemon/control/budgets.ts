// The control message about budgets of an org: what each account has spent. For people; the commit of a call decides.
import { textIn } from "../../core/base/fields.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { BudgetView } from "../../core/ports/daemon/task-messages.ts";
import { TASK_STATES, type Task } from "../../core/ports/stores/task-store.ts";
import { type AccountLimits, accountLimits, type OwnedBudget } from "../../org/budget.ts";
import type { DaemonParts } from "../parts.ts";
import type { MessageHandler } from "../rpc/serving.ts";

const pathCharactersMax = 4096;
/** Tasks whose own budgets are shown. */
const tasksShownMax = 20;
const millionths = 1_000_000;

export function budgetAnswers(parts: DaemonParts): readonly (readonly [string, MessageHandler])[] {
  return [
    [
      "org.budgets",
      async ({ value }) => {
        const workspace = textIn(value, "workspace", pathCharactersMax);
        return workspace === null ? BAD : budgetsOf(parts, workspace);
      },
    ],
  ];
}

const BAD = refusal("invalid_input", "the message cannot be parsed");

interface ShownAccount {
  readonly owner: string;
  readonly limits: AccountLimits;
  readonly task: string | null;
}

async function budgetsOf(
  { records, stores, now }: DaemonParts,
  workspace: string,
): Promise<Answer<{ budgets: readonly BudgetView[] }>> {
  const budgets = new Map<string, OwnedBudget>();
  for (const id of records.agentIds(workspace)) {
    const found = records.record(workspace, id);
    // A team and the org are in the budgets of each of their agents.
    for (const one of found.ok ? found.value.budgets : []) budgets.set(`${one.owner} ${[...one.budget].join()}`, one);
  }
  const newest = await stores.tasks.list(workspace, TASK_STATES, tasksShownMax);
  if (!newest.ok) return refusal(newest.code, newest.message);
  const at = now();
  const accounts = [...budgets.values()]
    .sort((left, right) => left.owner.localeCompare(right.owner, "en"))
    .flatMap((one) => accountsOf(one, workspace, at, newest.value));
  const times = await stores.tasks.timeOf(accounts.map(({ limits }) => limits.account));
  if (!times.ok) return refusal(times.code, times.message);
  const shown: BudgetView[] = [];
  for (const { owner, limits, task } of accounts) {
    const spent = await stores.ledger.accounts(limits.account);
    if (!spent.ok) return refusal(spent.code, spent.message);
    const state = spent.value.find(({ account }) => account === limits.account);
    const row = (unit: BudgetView["unit"], limit: number | null, used: number, scale = 1): void => {
      if (limit === null || (task !== null && used === 0)) return;
      const amounts = { limit: limit / scale, spent: used / scale, left: Math.max(0, limit - used) / scale };
      shown.push({ owner, period: limits.name.split(" ")[0] ?? "", unit, ...amounts, ends: limits.ends, task });
    };
    row("usd", limits.money, state?.money ?? 0, millionths);
    row("calls", limits.calls, state?.used ?? 0);
    row("seconds", limits.milliseconds, times.value.get(limits.account) ?? 0, 1000);
    row("tokens", limits.tokens, state?.tokens ?? 0);
  }
  return { ok: true, value: { budgets: shown } };
}

/** The accounts of a budget now: one for each time it counts over, those of a run and of a task for each of the tasks. */
function accountsOf(
  budget: OwnedBudget,
  workspace: string,
  now: number,
  tasks: readonly Task[],
): readonly ShownAccount[] {
  const { owner } = budget;
  const lasting = accountLimits([budget], { workspace, now, run: "", task: "" });
  const perTask = tasks.flatMap(({ id, generation }) =>
    accountLimits([budget], { workspace, now, run: `${id} ${generation}`, task: id })
      .filter(({ account }) => !lasting.some((one) => one.account === account))
      .map((limits): ShownAccount => ({ owner, limits, task: id })),
  );
  const own = lasting.filter(({ account }) => !/ (?:run|task) $/.test(account));
  return [...own.map((limits): ShownAccount => ({ owner, limits, task: null })), ...perTask];
}
