// What the tests write: decisions that are charged, approvals, and whatever else is kept, all with names of their own.
import { createHash } from "node:crypto";
import type { Approval } from "../../src/ports/approval-store.ts";
import type { AccountCharge, DecisionWrite } from "../../src/ports/ledger.ts";
import type { EntryKind, LogEntry, Who } from "../../src/ports/log.ts";

export const noon = 1_800_000_000_000;
export const agent = { workspace: "/work", agent: "ada" };
export const who: Who = { user: "ada", ...agent, chain: [], session: "s1", trace: null };

export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function entryOf(id: string, more: Partial<LogEntry> = {}): LogEntry {
  return {
    ...who,
    ...{ id, kind: "decision" as EntryKind, at: noon, tool: "bash", verbs: ["proc.exec"], outcome: "allow" },
    ...{ code: null, of: null, more: {} },
    ...more,
  };
}

/** `calls` altogether of one account; null is counted and never empty. */
export function charge(account: string, calls: number | null): AccountCharge {
  return { account, calls, rate: null, family: account, written: [account] };
}

export function decision(id: string, charges: readonly AccountCharge[], more: Partial<DecisionWrite> = {}): DecisionWrite {
  const accounts = charges.map((each) => each.account);
  return { entry: entryOf(id, { more: { accounts } }), charges, claim: null, generations: [], links: [], ...more };
}

export function approvalOf(id: string): Approval {
  return {
    ...{ id, state: "pending", who, tool: "bash", pin: null, digest: digest(id), generation: 0, level: 1, need: 1, of: null },
    ...{ arguments: {}, requests: ["proc.exec ls"], asking: ["proc.exec ls"], asked: noon, expires: noon + 60_000 },
    ...{ scope: { kind: "exact" }, usesLeft: 1, answers: [], reason: null, times: 1 },
  };
}
