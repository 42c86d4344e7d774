// The profile of a client in a request: known by its id, never sent as data.
import type { ClientProfile } from "../../clients/profile.ts";
import { profileById } from "../../clients/profiles.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { Limits, Plan } from "../../sandbox/plan/plan.ts";
import { DEFAULT_LIMITS } from "../../sandbox/plan/plan-facts.ts";
import { optionalText } from "../input.ts";
import { refusal } from "../refusal.ts";

/** Null: a program, not a client. */
export function profileIn(value: JsonObject): Answer<ClientProfile | null> {
  const id = optionalText(value, "profile", 128);
  if (id === null) return { ok: true, value: null };
  const profile = id === undefined ? null : profileById(id);
  if (profile === null) return refusal("invalid_input", "there is no such profile", "ambit profiles list");
  return { ok: true, value: profile };
}

/** The longest time the kernel's limit takes here: some eleven days of the processor. */
const cpuSecondsMax = 1_000_000;

/** Defaults for a client: it lives as long as the person works with it, and its reader slows its output down. */
export const CLIENT_LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  wallMilliseconds: 0,
  cpuSeconds: cpuSecondsMax,
  outputBytes: Number.MAX_SAFE_INTEGER,
};

/** INVARIANT: a profile adds variables and nothing else to a plan. */
export function withProfile(plan: Plan, { variables }: ClientProfile): Plan {
  const names = new Set(variables.map(([name]) => name));
  return { ...plan, environment: [...plan.environment.filter(([name]) => !names.has(name)), ...variables] };
}
