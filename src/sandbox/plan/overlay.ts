// When the root of a sandbox is an overlay, and where its layers are until the overlay is mounted.

import type { Plan, PlanPath } from "./plan.ts";
import { OURS } from "./plan-path.ts";

/** A private file system; pid 1 unmounts it before it runs anything. */
export const LAYERS: PlanPath = [...OURS, "layers"];
/** The real root, read-only. */
export const LOWER_LAYER: PlanPath = [...LAYERS, "lower"];
/** The folder of the draft: `upper` receives the changes, `work` is the kernel's. */
export const DRAFT_LAYER: PlanPath = [...LAYERS, "draft"];

/** Whether a sandbox serves a single command, because its root is created for that command. */
export function isForOneCommand(plan: Pick<Plan, "root" | "masked">): boolean {
  return rootOverlay(plan) !== null || plan.root?.copy !== undefined;
}

export type RootOverlay = "draft" | "read-only";

/**
 * Null: the root is bind-mounted. An overlay does not show later changes of its lower layer, so a sandbox with one runs
 * a single command.
 */
export function rootOverlay({ root, masked }: Pick<Plan, "root" | "masked">): RootOverlay | null {
  if (root === null || root.mode === "direct" || root.mode === "live") return null;
  if (root.mode === "draft") return "draft";
  return masked.length === 0 ? null : "read-only";
}
