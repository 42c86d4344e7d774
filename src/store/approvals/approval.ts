// The store of approvals: every change is one commit together with its log entry.
import type { Approval, ApprovalState, ApprovalStore } from "../../core/ports/stores/approval-store.ts";
import type { Durable } from "../../core/ports/stores/durable.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { CommitLoop } from "../commit-loop.ts";
import type { Connection } from "../connection.ts";
import { appendEntry } from "../log/append.ts";
import { type ApprovalRows, approvalOf } from "./approval-rows.ts";

export const approvalsListedMax = 10_000;
const recoveredMax = 10_000;

type ApprovalUpdate = Parameters<ApprovalStore["change"]>[2];

export class SqliteApprovalStore implements ApprovalStore {
  readonly #loop: CommitLoop;
  readonly #rows: ApprovalRows;

  constructor(loop: CommitLoop, rows: ApprovalRows) {
    this.#loop = loop;
    this.#rows = rows;
  }

  ask(approval: Approval, entry: LogEntry): Durable<Approval> {
    return this.#loop.write((connection) => {
      const same = this.#rows
        .live(approval.who)
        .find(({ digest, expires }) => digest === approval.digest && expires > approval.asked);
      if (same !== undefined) {
        const again = { ...same, times: same.times + 1 };
        this.#rows.save(connection, again);
        return again;
      }
      this.#rows.add(connection, approval);
      appendEntry(connection, entry);
      return approval;
    });
  }

  change(id: string, from: readonly ApprovalState[], to: ApprovalUpdate, entry: LogEntry): Durable<Approval | null> {
    return this.#loop.write((connection) => {
      const found = this.#rows.get(connection, id);
      if (found === null || !from.includes(found.state)) return null;
      const { state, scope, usesLeft, answers, expires, reason } = to;
      return this.#saved(connection, { ...found, state, scope, usesLeft, answers, expires, reason }, entry);
    });
  }

  get(id: string): Durable<Approval | null> {
    return this.#loop.read((connection) => this.#rows.get(connection, id));
  }

  async list(states: readonly ApprovalState[], count: number): Durable<readonly Approval[]> {
    return this.#loop.read((connection) =>
      connection
        .all(
          `SELECT body FROM approval WHERE state IN (SELECT value FROM json_each(?)) ORDER BY number DESC LIMIT ?`,
          ...[JSON.stringify(states), Math.min(Math.max(count, 0), approvalsListedMax)],
        )
        .map(approvalOf),
    );
  }

  usable(workspace: string | null, agent: string, now: number): readonly Approval[] {
    return this.#of(workspace, agent, ({ state, expires, usesLeft }) => {
      return state === "approved" && expires > now && usesLeft > 0;
    });
  }

  pending(workspace: string | null, agent: string): readonly Approval[] {
    return this.#of(workspace, agent, ({ state }) => state === "pending");
  }

  recover(now: number, entry: (approval: Approval) => LogEntry): Durable<readonly Approval[]> {
    return this.#loop.write((connection) => {
      const rows = connection.all(
        `SELECT body FROM approval WHERE state = 'executing' OR (state IN ('pending', 'approved') AND expires <= ?)
         ORDER BY number LIMIT ?`,
        ...[now, recoveredMax],
      );
      return rows.map(approvalOf).map((found) => {
        const state = found.state === "executing" ? "indeterminate" : "expired";
        const changed: Approval = { ...found, state };
        return this.#saved(connection, changed, entry(changed));
      });
    });
  }

  #saved(connection: Connection, approval: Approval, entry: LogEntry): Approval {
    this.#rows.save(connection, approval);
    appendEntry(connection, entry);
    return approval;
  }

  #of(workspace: string | null, agent: string, is: (approval: Approval) => boolean): readonly Approval[] {
    return this.#loop.isReady() ? this.#rows.live({ workspace, agent }).filter(is) : [];
  }
}
