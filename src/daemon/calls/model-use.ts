// Requests of a running client to models: each is decided by what the session holds at that moment, charged and on disk before
// it is sent; its tokens follow as an outcome. Prompts are not logged, only their digest.
import { judge } from "../../core/authority/judge.ts";
import { chargesOf } from "../../core/gate/decide.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { ProgramContext } from "../parts.ts";
import type { Session } from "../session.ts";
import type { ApprovalWait } from "./call-ports.ts";
import type { Gatekeeper } from "./gatekeeper.ts";

const TOOL = "model";

/** A model does not wait for a person: the client is told that approval is required. */
const NO_WAIT: ApprovalWait = {
  milliseconds: 0,
  isStopped: false,
  onStop: () => undefined,
  asked: () => undefined,
};

export function modelUse(
  session: Session,
  gatekeeper: Gatekeeper,
  receipt: string,
  ledger: Pick<Ledger, "append">,
): Pick<ProgramContext, "useModel" | "modelUsed"> {
  const digests = new Map<string, { readonly digest: string; readonly bytes: number }>();
  return {
    useModel: async (request, { digest, bytes, isCharged }) => {
      const holding = gatekeeper.holding(session);
      if (session.isClosed || "refused" in holding) return { ok: false, id: receipt, code: "revoked" };
      if (holding.blocked !== null) return { ok: false, id: receipt, code: holding.blocked.code };
      const ports = gatekeeper.ports(session, holding, NO_WAIT, {});
      // What the client has read by now is unknown.
      const decision = judge(holding.authority, request, { ...ports.moment(), clean: false });
      const isCovered = decision.outcome === "allow";
      const code = decision.outcome === "deny" ? decision.code : isCovered ? null : "approval_required";
      const basis = decision.outcome === "deny" ? [] : [decision.by];
      const written = await ports.commit({
        agent: session.facts.name.agent,
        tool: TOOL,
        requests: [request],
        basis,
        outcome: isCovered ? "allow" : "deny",
        code,
        charges: isCovered && isCharged ? chargesOf({ basis, authority: holding.authority }) : [],
        level: decision.outcome === "ask" ? decision.level : 0,
        need: isCovered ? null : request,
        approval: null,
        reason: null,
        call: receipt,
      });
      if (!written.ok) return { ok: false, id: receipt, code: written.code };
      if (code !== null) return { ok: false, id: written.receipt, code };
      digests.set(written.receipt, { digest, bytes });
      return { ok: true, id: written.receipt };
    },
    modelUsed: (id, { isSent, status, input, output, milliseconds, isWhole }) => {
      const facts = digests.get(id);
      digests.delete(id);
      const more = { ...(facts ?? {}), input, output, milliseconds, whole: isWhole };
      const outcome = status !== 0 ? `answered ${status}` : isSent ? "no answer" : "not sent";
      void ledger.append([gatekeeper.entries.make("outcome", session.who([]), outcome, { tool: TOOL, of: id, more })]);
    },
  };
}
