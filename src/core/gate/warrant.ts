// Proof that the gate allowed one call. No tool runs without one; it is made in `gate/` and nowhere else.
import type { Basis } from "../authority/decision.ts";
import type { Request } from "../authority/request.ts";
import type { JsonObject } from "../base/json.ts";
import { isMarked } from "./warrant-brand.ts";

export interface Warrant {
  readonly agent: string;
  readonly tool: string;
  /** The arguments that were decided on; what runs gets these and no others. */
  readonly arguments: JsonObject;
  readonly requests: readonly Request[];
  /** For each request, the chain and the grants that covered it. */
  readonly basis: readonly Basis[];
  /** Names the durable entry that was written before this warrant existed. */
  readonly receipt: string;
}

/** Recognised by a private mark, never by its class, its shape or its prototype. */
export function isWarrant(value: unknown): value is Warrant {
  return isMarked(value);
}
