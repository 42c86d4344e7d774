// A denial that only trust stands behind is told as that: no grant would help, a person's trust would.

import type { AgentTrust } from "../../agents/project/trust.ts";
import type { Request } from "../../core/authority/request.ts";
import { decide, type Verdict } from "../../core/gate/decide.ts";
import { mayWantTrust } from "../../core/gate/untrusted.ts";
import type { CliPorts } from "../ports.ts";
import { visibleText } from "../terminal/cells.ts";

/** The same verdict, but `untrusted_policy` where the text as written would have answered otherwise; as the daemon does. */
export function underTrust(
  trust: AgentTrust | undefined,
  request: Request,
  verdict: Verdict,
  ports: Pick<CliPorts, "moment" | "reading">,
): Verdict {
  if (trust === undefined || verdict.decision.outcome !== "deny" || !mayWantTrust(verdict.decision.code))
    return verdict;
  if (trust.status.kind !== "untrusted" && trust.status.kind !== "waiting") return verdict;
  const { id: agent, authority } = trust.written;
  const { protectedPaths } = ports.reading.pathSettings;
  const { decision } = decide({ agent, authority }, request, ports.moment, protectedPaths);
  if (decision.outcome === "deny") return verdict;
  return { decision: { outcome: "deny", code: "untrusted_policy", at: null }, exceeds: null, unenforceable: null };
}

/** One line for a person; null where everything written counts. */
export function trustLine(id: string, trust: AgentTrust | undefined): string | null {
  switch (trust?.status.kind) {
    case "untrusted":
      return `the grants of ${visibleText(id)} have no effect: the project is not trusted; to review it, run: ambit trust`;
    case "waiting":
      return `grants added to ${visibleText(id)} since the project was trusted have no effect; to review them, run: ambit trust`;
    default:
      return null;
  }
}
