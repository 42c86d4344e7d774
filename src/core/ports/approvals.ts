// Approval requests to a person. An approval never adds coverage; it satisfies an `ask` for exactly one call.
import type { Level } from "../authority/grant.ts";
import type { Request } from "../authority/request.ts";
import type { JsonObject } from "../base/json.ts";

export interface ApprovalRequest {
  readonly agent: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly requests: readonly Request[];
  /** The requests among them that a person has to approve. */
  readonly asking: readonly Request[];
  readonly level: Exclude<Level, 0>;
}

export type ApprovalAnswer =
  /** The level at which the person answered; a plain approval never counts as presence. */
  | { readonly kind: "approved"; readonly approval: string; readonly level: Exclude<Level, 0> }
  | { readonly kind: "refused"; readonly reason: string; readonly approval?: string }
  /** No approver is connected: the request is pending under this id. */
  | { readonly kind: "pending"; readonly approval: string }
  /** No approval request was created, so there is nothing to wait for. */
  | { readonly kind: "unavailable"; readonly reason: string };

export type Approvals = (asked: ApprovalRequest) => Promise<ApprovalAnswer>;
