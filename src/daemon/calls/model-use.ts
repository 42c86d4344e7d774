// Requests of a running client to models: each is decided by what the session holds at that moment, charged and on disk before
// it is sent; its tokens follow as an outcome. Prompts are not logged, only their digest.
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { ProgramContext } from "../parts.ts";
import type { Session } from "../session.ts";
import type { ApprovalWait } from "./call-input.ts";
import { commitUse } from "./call-ports.ts";
import type { Gatekeeper } from "./gatekeeper.ts";

const TOOL = "model";

/** A model does not wait for a person: the client is told that approval is required. */
const NO_WAIT: ApprovalWait = {
  milliseconds: 0,
  signal: null,
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
      const { authority } = holding;
      const used = await commitUse(session, ports, { tool: TOOL, request, authority, receipt, isCharged });
      if (!used.ok) return used;
      digests.set(used.id, { digest, bytes });
      return used;
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
