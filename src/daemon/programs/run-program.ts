// One decided program: the plan is made from the deciding grants, and the sandbox runs it.
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { countedIsSpent } from "../../core/authority/counted.ts";
import type { Basis, DenialCode } from "../../core/authority/decision.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import type { RunFailure, RunResult, Sinks } from "../../core/ports/process.ts";
import type { Plan } from "../../sandbox/plan/plan.ts";
import type { Command, Sandboxes, SandboxOwner } from "../../sandbox/plan/sandboxes.ts";

export type PlanResult = { readonly ok: true; readonly plan: Plan } | RunFailure;

export interface ProgramParts {
  /** The caller's current authority: grants expire, links are revoked and records are edited while a program runs. */
  holds(): Authority;
  readonly owner: SandboxOwner;
  /** Called for every decision: a run takes time, and grants expire. */
  moment(): Moment;
  /** From the grants that covered the request, never from the verdict. */
  plan(request: Request, by: Basis): PlanResult;
  readonly sandboxes: Sandboxes;
  /** Connections that no grant gives this program; asked after the plan is made. Null: the grants decide. */
  refusal(asked: Request): DenialCode | null;
}

/** INVARIANT: never with more than the deciding grants give. */
export async function runProgram(
  parts: ProgramParts,
  decided: { readonly request: Request; readonly by: Basis },
  command: Command,
  sinks: Sinks,
  signal: AbortSignal | null,
): Promise<RunResult> {
  const planned = parts.plan(decided.request, decided.by);
  if (!planned.ok) return planned;
  return parts.sandboxes.run(
    parts.owner,
    planned.plan,
    command,
    sinks,
    (asked) => {
      const code = parts.refusal(asked);
      if (code !== null) return { outcome: "deny", code, at: null };
      const held = parts.holds();
      // What the program has read by then is unknown: a grant for a clean session no longer applies.
      return judge(held, asked, { ...parts.moment(), clean: false, exhausted: countedIsSpent(held) });
    },
    signal,
  );
}
