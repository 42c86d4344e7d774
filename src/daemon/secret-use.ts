// Whether a secret may be given to a session's process: decided like any use, and logged first.
import { judge } from "../core/authority/judge.ts";
import type { Request } from "../core/authority/request.ts";
import { chargesOf } from "../core/gate/charges.ts";
import type { CallPorts } from "./calls/call-ports.ts";
import type { Holding } from "./calls/holding.ts";
import type { Session } from "./session.ts";

export function secretUse(
  session: Session,
  { authority }: Holding,
  ports: CallPorts,
  receipt: string,
): (request: Request) => Promise<boolean> {
  return async (request) => {
    const decision = judge(authority, request, { ...ports.moment(), clean: false });
    const isCovered = decision.outcome === "allow";
    const code = decision.outcome === "deny" ? decision.code : isCovered ? null : "approval_required";
    const basis = decision.outcome === "deny" ? [] : [decision.by];
    const written = await ports.commit({
      agent: session.facts.name.agent,
      tool: "git",
      requests: [request],
      basis,
      outcome: isCovered ? "allow" : "deny",
      code,
      charges: isCovered ? chargesOf({ basis, authority }) : [],
      level: decision.outcome === "ask" ? decision.level : 0,
      need: isCovered ? null : request,
      approval: null,
      reason: null,
      call: receipt,
    });
    return isCovered && written.ok;
  };
}
