// Why there is no plan, in the shape a run is refused in.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { RunRefusal } from "../../core/ports/process.ts";

export interface PlanRefused {
  readonly ok: false;
  readonly refused: RunRefusal;
}

export type Planned<T> = { readonly ok: true; readonly value: T } | PlanRefused;

export function planned<T>(value: T): Planned<T> {
  return { ok: true, value };
}

export function refusePlan(code: DenialCode, message: string, fix: string | null = null): PlanRefused {
  return { ok: false, refused: { code, message, fix } };
}
