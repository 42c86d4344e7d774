// Looking at what a program says before it goes out: the name in the open must be the name that was connected to.
import { type Destination, destinationText, parseHost } from "../../../core/authority/axes/destination.ts";
import type { Reason } from "../denials.ts";
import { toAscii } from "../names/ascii.ts";

export type Step =
  /** These bytes may go out now, in this order; whatever is missing is held until more is known. */
  | { readonly kind: "pass"; readonly bytes: readonly Uint8Array[] }
  /** `other`: the name that was said instead, where there was one. */
  | { readonly kind: "refused"; readonly reason: Reason; readonly other: Destination | null };

export interface Inspection {
  /** Bytes from inside. */
  push(bytes: Uint8Array): Step;
  /** Bytes from outside, before they go in; what they settle may let held bytes go. */
  answer(bytes: Uint8Array): Step;
  /** Nothing that follows will be looked at. */
  readonly settled: boolean;
}

export const HELD: Step = { kind: "pass", bytes: [] };

export function refusedStep(reason: Reason, other: Destination | null = null): Step {
  return { kind: "refused", reason, other };
}

/** A name said in the open; null where it is not one. A dot at the end and capitals make no difference. */
export function spokenHost(text: string): Destination | null {
  const host = parseHost(text, toAscii);
  return host.ok ? host.value : null;
}

/** Two hosts are one when they are written alike in the one spelling each of them has. */
export function sameHost(one: Destination, other: Destination): boolean {
  return (one.name === null) === (other.name === null) && destinationText(one) === destinationText(other);
}
