// Why presence is required before widening or approving, by the user's own configuration.

import type { Config } from "../../core/notation/config/config.ts";
import type { PresenceReason } from "../parts.ts";

/** Null if it is not required. An invalid configuration may require it. */
export function presenceReason(config: Config | null): PresenceReason | null {
  if (config === null) return null;
  if (!config.broken) return config.control === "presence" ? { problem: null } : null;
  const first = config.diagnostics.find(({ severity }) => severity === "error");
  return { problem: first?.message ?? "it cannot be parsed" };
}
