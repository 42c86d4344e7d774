// Why a person has to show to be there before anything is widened or approved: what the user's own configuration says of it.

import type { Config } from "../../core/notation/config/config.ts";
import type { PresenceReason } from "../parts.ts";

/** Null where nothing asks for it. A configuration that is not understood may have. */
export function presenceReason(config: Config | null): PresenceReason | null {
  if (config === null) return null;
  if (!config.broken) return config.control === "presence" ? { problem: null } : null;
  const first = config.diagnostics.find(({ severity }) => severity === "error");
  return { problem: first?.message ?? "it is not understood" };
}
