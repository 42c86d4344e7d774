// What enforced each axis of a call: as its result and its log entry say it.
import type { Request } from "../../core/authority/request.ts";
import type { Strength } from "../../core/ports/enforcement.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";

const STRENGTHS: readonly string[] = ["none", "checked", "broker", "kernel"] satisfies readonly Strength[];

/** By axis. INVARIANT: of several reports about one axis the weakest counts. */
export class CallEnforcement {
  readonly #axes = new Map<string, string>();

  add(axis: string, strength: string): void {
    const known = this.#axes.get(axis);
    if (known === undefined || STRENGTHS.indexOf(strength) < STRENGTHS.indexOf(known)) this.#axes.set(axis, strength);
  }

  list(): Outcome["enforcement"] {
    return [...this.#axes].map(([axis, strength]) => ({ axis, strength }));
  }
}

/** Every axis of the requests was checked by the gate; what carried the call out may have enforced it more strongly. */
export function enforcementOf(requests: readonly Request[], reported: Outcome["enforcement"]): Outcome["enforcement"] {
  const all = new CallEnforcement();
  for (const { axis, strength } of reported) all.add(axis, strength);
  const known = new Set(all.list().map(({ axis }) => axis));
  for (const { verb } of requests) for (const { name } of verb.axes) if (!known.has(name)) all.add(name, "checked");
  return all.list();
}
