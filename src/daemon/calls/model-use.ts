// Uses of a running program: secrets for git, and requests of a client to models. Each is decided by what the session holds at
// that moment, its cost reserved, and on disk before it is sent; a model's tokens follow as an outcome. Prompts are not logged,
// only their digest, unless the user keeps them.
import type { Authority } from "../../core/authority/chain.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { ProgramContext } from "../parts.ts";
import type { Session } from "../session.ts";
import type { ApprovalWait } from "./call-input.ts";
import type { CallPorts } from "./call-ports.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { commitUse, type ProgramUse, type UseDecision } from "./program-use.ts";

const TOOL = "model";
const GIT = "git";
/** Shorter than clients and the relay wait for a first byte. */
const approvalMilliseconds = 540_000;

/** Waits as long as the run says, or as clients wait for an answer; ends with the run. */
function approvalWait({ milliseconds, signal }: ApprovalWait): ApprovalWait {
  return {
    milliseconds: milliseconds > 0 ? Math.min(milliseconds, approvalMilliseconds) : approvalMilliseconds,
    signal,
    // The terminal belongs to the client while it runs: the person is told by `approvals watch` or `notify`.
    asked: () => undefined,
  };
}

/** The call that runs the program. */
interface ProgramCall {
  /** By what the tool declares, where it declares something. */
  narrowed(authority: Authority): Authority;
  readonly ports: CallPorts;
  readonly receipt: string;
}

export function programUses(
  session: Session,
  gatekeeper: Gatekeeper,
  run: ProgramCall,
  ledger: Pick<Ledger, "append" | "settle">,
): Pick<ProgramContext, "useSecret" | "useModel" | "modelUsed"> {
  const { receipt } = run;
  /** Requests that are not settled yet, as the log names them. */
  const requests = new Map<string, JsonObject>();
  const waiting = approvalWait(run.ports.waiting);
  /** What earlier requests cost is booked before the next one is decided: their reservations are larger. */
  let settled: Promise<unknown> = Promise.resolve();
  /** One alarm a program: a caller must not be able to fill the log. */
  let isAlarmed = false;
  /** INVARIANT: by what the session holds at the use, not at the program's start. */
  const decide = async (
    use: Omit<ProgramUse, "authority" | "receipt"> & { readonly question: JsonObject },
  ): Promise<UseDecision> => {
    const holding = gatekeeper.holding(session);
    if (session.isClosed || "refused" in holding) return { ok: false, id: receipt, code: "revoked", reason: null };
    if (holding.blocked !== null) return { ok: false, id: receipt, code: holding.blocked.code, reason: null };
    const ports = gatekeeper.ports(session, holding, waiting, use.question);
    ports.profile = run.ports.profile;
    return commitUse(session, ports, { ...use, authority: run.narrowed(holding.authority), receipt });
  };
  return {
    useSecret: (request, question) => decide({ tool: GIT, request, isCharged: true, question }),
    useModel: async (request, { digest, bytes, isCharged, cost, question, credential, hasForeignCredential }) => {
      await settled;
      if (hasForeignCredential && !isAlarmed) {
        isAlarmed = true;
        const facts = { tool: TOOL, of: receipt, more: question };
        await ledger.append([gatekeeper.entries.make("alarm", session.who([]), "foreign_credential", facts)]);
      }
      const used = await decide({ tool: TOOL, request, isCharged, cost, question, credential });
      if (used.ok) requests.set(used.id, { ...question, digest, bytes });
      return used;
    },
    modelUsed: (id, { isSent, status, input, output, milliseconds, isWhole, prompt }, { cost, reserved, facts }) => {
      const request = facts ?? requests.get(id) ?? {};
      requests.delete(id);
      const charged = cost ?? reserved;
      const more = {
        ...request,
        ...{ input, output, milliseconds, whole: isWhole },
        ...(prompt === null ? {} : { prompt }),
        ...(charged === null ? {} : { tokens: charged.tokens, money: charged.money }),
      };
      const outcome = status !== 0 ? `answered ${status}` : isSent ? "no answer" : "not sent";
      const entry = gatekeeper.entries.make("outcome", session.who([]), outcome, { tool: TOOL, of: id, more });
      settled = Promise.allSettled([settled, ledger.settle(entry, id, cost)]);
    },
  };
}
