// One program from the call to the outcome: the gate decides and writes it down, the plan is made from the grants that
// decided, the sandbox runs it, and what became of it is written down too.
import type { Authority } from "../authority/chain.ts";
import type { Moment } from "../authority/compiled.ts";
import { countedIsSpent } from "../authority/counted.ts";
import type { Basis, DenialCode } from "../authority/decision.ts";
import { judge } from "../authority/judge.ts";
import type { Ground } from "../authority/path.ts";
import type { Request } from "../authority/request.ts";
import { authorize } from "../gate/call.ts";
import type { Caller } from "../gate/decide.ts";
import type { Approvals } from "../ports/approvals.ts";
import type { Commit, Settle } from "../ports/commit.ts";
import type { Ending, Ran, RunRefused, Sinks } from "../ports/process.ts";
import type { Plan } from "../sandbox/plan.ts";
import type { Command, Sandboxes, SandboxOwner, Stop } from "../sandbox/sandboxes.ts";
import { argvOfInput, type ProgramInput, type ProgramToolName, programTools } from "./program-tools.ts";

export type Planned = { readonly ok: true; readonly plan: Plan } | { readonly ok: false; readonly refused: RunRefused };

export interface ProgramParts {
  readonly caller: Caller;
  /** What the caller holds by now: grants end, links are revoked, texts are edited while a program runs. */
  holds(): Authority;
  readonly owner: SandboxOwner;
  readonly ground: Ground;
  /** Asked again for every decision: a run lasts, and grants end. */
  moment(): Moment;
  readonly approvals: Approvals;
  readonly commit: Commit;
  readonly settle: Settle;
  /** From the grants that covered the request, never from the verdict. */
  plan(request: Request, basis: Basis): Planned;
  readonly sandboxes: Sandboxes;
}

export type ProgramResult =
  | { readonly ok: true; readonly receipt: string; readonly request: Request; readonly ran: Ran }
  | {
      readonly ok: false;
      readonly refused: RunRefused;
      readonly request: Request | null;
      /** What the gate said, where it was the gate that refused. */
      readonly denial: {
        readonly receipt: string | null;
        readonly approval: string | null;
        readonly reason: string | null;
      } | null;
    };

/** INVARIANT: nothing is run before the decision is on disk, and never with more than the deciding grants give. */
export async function runProgram(
  parts: ProgramParts,
  tool: ProgramToolName,
  input: ProgramInput,
  streams: { readonly input: Command["input"]; readonly sinks: Sinks; readonly stop: Stop | null },
): Promise<ProgramResult> {
  const { caller, owner, ground, approvals, commit } = parts;
  const tools = programTools(ground);
  const call = { tool, input };
  const gate = await authorize(caller, call, tools, parts.moment(), ground.protectedPaths, { approvals, commit });
  if (!gate.ok) {
    const { code, request, receipt, approval, reason } = gate;
    return { ok: false, refused: { code, message: "", fix: null }, request, denial: { receipt, approval, reason } };
  }
  const { requests, basis, receipt } = gate.warrant;
  // The first request is the tool itself; the program follows it.
  const request = requests[1];
  const by = basis[1];
  const argv = argvOfInput(input);
  if (request === undefined || by === undefined || argv === null) return refused("invalid_input", null);
  const planned = parts.plan(request, by);
  const result = planned.ok
    ? await parts.sandboxes.run(
        owner,
        planned.plan,
        { argv, input: streams.input },
        streams.sinks,
        (asked) => {
          const held = parts.holds();
          // What it has read by then is nobody's to know: a grant for a clean session does not cover any more.
          return judge(held, asked, { ...parts.moment(), clean: false, exhausted: countedIsSpent(held) });
        },
        streams.stop,
      )
    : planned;
  const ran = result.ok && "ran" in result ? result.ran : null;
  const settled = await parts.settle({
    receipt,
    ended: ran === null ? "refused" : endingText(ran.ending),
    denials: ran?.denials ?? [],
    enforcement: (ran?.enforcement ?? []).map(({ axis, strength }) => ({ axis, strength })),
    wallMicroseconds: ran?.usage.wallMicroseconds ?? 0,
  });
  if (ran === null) return { ok: false, refused: result.ok ? UNKNOWN : result.refused, request, denial: null };
  // The effect is there either way; that it could not be written down must not look like success.
  if (!settled) return refused("audit_unavailable", request);
  return { ok: true, receipt, request, ran };
}

const UNKNOWN: RunRefused = { code: "sandbox_unavailable", message: "the sandbox gave no answer", fix: null };

function refused(code: DenialCode, request: Request | null): ProgramResult {
  return { ok: false, refused: { code, message: "", fix: null }, request, denial: null };
}

function endingText(ending: Ending): string {
  switch (ending.kind) {
    case "exited":
      return `exited ${ending.status}`;
    case "signalled":
      return `signalled ${ending.signal}`;
    case "ended":
      return `ended ${ending.because}`;
    case "unstarted":
      return "unstarted";
    default:
      return ending satisfies never;
  }
}
