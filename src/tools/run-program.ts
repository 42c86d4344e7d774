// One program that was decided on: the plan is made from the grants that decided, and the sandbox runs it.
import type { Authority } from "../core/authority/chain.ts";
import type { Moment } from "../core/authority/compiled.ts";
import { countedIsSpent } from "../core/authority/counted.ts";
import type { Basis } from "../core/authority/decision.ts";
import { judge } from "../core/authority/judge.ts";
import type { Request } from "../core/authority/request.ts";
import type { RunRefused, RunResult, Sinks } from "../core/ports/process.ts";
import type { Plan } from "../sandbox/plan/plan.ts";
import type { CancelSignal, Command, Sandboxes, SandboxOwner } from "../sandbox/plan/sandboxes.ts";

export type Planned = { readonly ok: true; readonly plan: Plan } | { readonly ok: false; readonly refused: RunRefused };

export interface ProgramParts {
  /** What the caller holds by now: grants end, links are revoked, texts are edited while a program runs. */
  holds(): Authority;
  readonly owner: SandboxOwner;
  /** Asked again for every decision: a run lasts, and grants end. */
  moment(): Moment;
  /** From the grants that covered the request, never from the verdict. */
  plan(request: Request, by: Basis): Planned;
  readonly sandboxes: Sandboxes;
}

/** INVARIANT: never with more than the deciding grants give. */
export async function runProgram(
  parts: ProgramParts,
  decided: { readonly request: Request; readonly by: Basis },
  command: Command,
  sinks: Sinks,
  stop: CancelSignal | null,
): Promise<RunResult> {
  const planned = parts.plan(decided.request, decided.by);
  if (!planned.ok) return planned;
  return parts.sandboxes.run(
    parts.owner,
    planned.plan,
    command,
    sinks,
    (asked) => {
      const held = parts.holds();
      // What it has read by then is nobody's to know: a grant for a clean session does not cover any more.
      return judge(held, asked, { ...parts.moment(), clean: false, exhausted: countedIsSpent(held) });
    },
    stop,
  );
}
