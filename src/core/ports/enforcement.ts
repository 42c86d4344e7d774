// What enforces each axis of a call. An axis enforced by nothing is a denial unless the user's own configuration names it.
import type { AxisName } from "../authority/catalog.ts";

export type Strength = "kernel" | "broker" | "checked" | "none";

export interface Enforcement {
  readonly axis: AxisName;
  readonly strength: Strength;
  /** Why the enforcement is not stronger. */
  readonly note: string | null;
}
