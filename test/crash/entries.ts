// What the tests write: charged decisions, approvals, and everything else that is stored, all with unique names.
import { createHash } from "node:crypto";
import type { Approval } from "../../src/core/ports/stores/approval-store.ts";
import type { AccountCharge, DecisionWrite } from "../../src/core/ports/stores/ledger.ts";
import type { EntryKind, LogEntry, Who } from "../../src/core/ports/stores/log.ts";
import type { State } from "../../src/store/state.ts";
import { approvalOf } from "../../src/store/testing/state.ts";

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

/** `calls` in total for one account; null is counted and unlimited. */
export function charge(account: string, calls: number | null): AccountCharge {
  return { account, calls, rate: null, tokens: null, money: null, family: account, written: [account] };
}

export function decision(
  id: string,
  charges: readonly AccountCharge[],
  more: Partial<DecisionWrite> = {},
): DecisionWrite {
  const accounts = charges.map((each) => each.account);
  return { entry: entryOf(id, { more: { accounts } }), charges, claim: null, generations: [], links: [], ...more };
}

/** Requested and approved; only its use is left. */
export async function approvedApproval(state: State, id: string): Promise<Approval> {
  const approval = approvalOf(id, { digest: digest(id), asked: noon, expires: noon + 60_000 });
  const [asked, answered] = [`${id}-asked`, `${id}-answered`];
  await state.approvals.ask(approval, entryOf(asked, { kind: "approval", outcome: "asked" }));
  const to = { ...approval, state: "approved" as const };
  const entry = entryOf(answered, { kind: "approval", outcome: "approved" });
  const changed = await state.approvals.change(id, ["pending"], to, entry);
  if (!changed.ok || changed.value === null) throw new Error("the approval could not be made");
  return changed.value;
}

/** A decision that uses it. */
export function claimOf(id: string, { id: approval, digest: shown }: Approval): DecisionWrite {
  return decision(id, [], { claim: { approval, digest: shown, isExact: true } });
}
