// The entry for a decision that the second copy of the log did not confirm in time.
import type { LogEntry } from "../../core/ports/stores/log.ts";

/** It was allowed and charged, and not executed. */
const ENDED = "failed audit_unavailable";

export function unconfirmedOutcome(decision: LogEntry, id: string, at: number): LogEntry {
  const { user, agent, workspace, chain, session, trace } = decision;
  const reason = "the second copy of the log did not receive the decision in time, so the call was not executed";
  return {
    ...{ user, agent, workspace, chain, session, trace, id, at },
    kind: "outcome",
    tool: null,
    verbs: [],
    outcome: ENDED,
    code: null,
    of: decision.id,
    more: { denials: [], ended: ENDED, enforcement: [], milliseconds: 0, reason },
  };
}
