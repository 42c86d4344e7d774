// Why there is no plan, in the type of a refused run.
import type { DenialCode } from "../../authority/decision.ts";
import type { RunRefusal } from "../../ports/process.ts";

export interface PlanRefusal {
  readonly ok: false;
  readonly refused: RunRefusal;
}

export type PlanningResult<T> = { readonly ok: true; readonly value: T } | PlanRefusal;

export function planValue<T>(value: T): PlanningResult<T> {
  return { ok: true, value };
}

export function refusePlan(code: DenialCode, message: string, fix: string | null = null): PlanRefusal {
  return { ok: false, refused: { code, message, fix } };
}
