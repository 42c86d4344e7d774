// What held each axis of a call. An axis held by nothing is a denial unless the user's own configuration names it.
import type { AxisName } from "../authority/catalog.ts";

export type Strength = "kernel" | "broker" | "checked" | "none";

export interface Enforcement {
  readonly axis: AxisName;
  readonly strength: Strength;
  /** Why it is not held more strongly. */
  readonly note: string | null;
}
