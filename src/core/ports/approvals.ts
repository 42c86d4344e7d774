// Asking a person. An approval never adds coverage; it discharges an `ask` for exactly one call.
import type { Level } from "../authority/grant.ts";
import type { Request } from "../authority/request.ts";
import type { JsonObject } from "../base/json.ts";

export interface ApprovalAsked {
  readonly agent: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly requests: readonly Request[];
  /** Those of them that a person has to approve. */
  readonly asking: readonly Request[];
  readonly level: Exclude<Level, 0>;
}

export type ApprovalAnswer =
  /** The level the person answered at; a plain yes never stands for presence. */
  | { readonly kind: "approved"; readonly approval: string; readonly level: Exclude<Level, 0> }
  | { readonly kind: "refused"; readonly reason: string; readonly approval?: string }
  /** Nobody is there to be asked: the request waits under this id. */
  | { readonly kind: "pending"; readonly approval: string }
  /** No question was raised, so there is none to wait for. */
  | { readonly kind: "unavailable"; readonly reason: string };

export type Approvals = (asked: ApprovalAsked) => Promise<ApprovalAnswer>;
