// Approvals in the database, and the live ones in memory.
import type { Approval, ApprovalState } from "../../core/ports/stores/approval-store.ts";
import type { ApprovalClaim } from "../../core/ports/stores/ledger.ts";
import type { Who } from "../../core/ports/stores/log.ts";
import { type Connection, textOf } from "../connection.ts";
import type { Row } from "../sqlite.ts";
import type { Mirror } from "../trusted-connection.ts";

const UPDATE = "UPDATE approval SET state = ?, expires = ?, body = ?, receipt = coalesce(?, receipt) WHERE id = ?";
const INSERT = "INSERT INTO approval (id, state, digest, expires, body) VALUES (?, ?, ?, ?, ?)";

export class ApprovalRows implements Mirror {
  /** Pending and approved ones, in the order in which they were requested. */
  readonly #live = new Map<string, Approval>();
  readonly #held = new Map<string, Map<string, Approval>>();

  load(connection: Connection): void {
    const rows = connection.all("SELECT body FROM approval WHERE state IN ('pending', 'approved') ORDER BY number");
    for (const row of rows) this.#mirror(approvalOf(row));
  }

  drop(): void {
    this.#live.clear();
    this.#held.clear();
  }

  live(who: Pick<Who, "workspace" | "agent">): readonly Approval[] {
    return [...(this.#held.get(holderKey(who))?.values() ?? [])];
  }

  get(connection: Connection, id: string): Approval | null {
    const known = this.#live.get(id);
    if (known !== undefined) return known;
    const row = connection.get("SELECT body FROM approval WHERE id = ?", id);
    return row === undefined ? null : approvalOf(row);
  }

  add(connection: Connection, approval: Approval): void {
    const { id, state, digest, expires } = approval;
    connection.run(INSERT, id, state, digest, expires, JSON.stringify(approval));
    this.#mirror(approval);
  }

  save(connection: Connection, approval: Approval, receipt: string | null = null): void {
    const { id, state, expires } = approval;
    connection.run(UPDATE, state, expires, JSON.stringify(approval), receipt, id);
    this.#mirror(approval);
  }

  /** Null if it may not be used for this call now. Changes nothing yet. */
  claimable(connection: Connection, claim: ApprovalClaim, at: number): Approval | null {
    const approval = this.get(connection, claim.approval);
    if (approval === null || approval.state !== "approved" || !(approval.expires > at)) return null;
    if (!(approval.usesLeft > 0)) return null;
    if (claim.generation !== undefined && claim.generation !== approval.generation) return null;
    // An exact claim, and an answer to exactly one call, must match its digest.
    const isExact = claim.isExact || approval.scope.kind === "exact";
    return isExact && claim.digest !== approval.digest ? null : approval;
  }

  /** Consumes one use; the last one is executed under the receipt. */
  use(connection: Connection, approval: Approval, receipt: string): void {
    const usesLeft = approval.usesLeft - 1;
    this.save(connection, { ...approval, usesLeft, state: usesLeft <= 0 ? "executing" : "approved" }, receipt);
  }

  #mirror(approval: Approval): void {
    const key = holderKey(approval.who);
    const held = this.#held.get(key) ?? new Map<string, Approval>();
    if (isLive(approval.state)) {
      this.#live.set(approval.id, approval);
      this.#held.set(key, held.set(approval.id, approval));
      return;
    }
    this.#live.delete(approval.id);
    held.delete(approval.id);
    if (held.size === 0) this.#held.delete(key);
  }
}

/** Both parts, so that no two holders share a key. */
function holderKey({ workspace, agent }: Pick<Who, "workspace" | "agent">): string {
  return JSON.stringify([workspace, agent]);
}

export function approvalOf(row: Row): Approval {
  const stored = JSON.parse(textOf(row, "body")) as Approval;
  // Older versions stored none.
  return { ...stored, binding: stored.binding ?? null };
}

function isLive(state: ApprovalState): boolean {
  return state === "pending" || state === "approved";
}
