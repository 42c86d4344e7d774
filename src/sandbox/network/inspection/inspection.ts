// Inspects a program's traffic before it is sent: the visible name must be the connected name.
import { type Destination, destinationText, parseHost } from "../../../core/authority/axes/destination.ts";
import type { Reason } from "../denials.ts";
import { toAscii } from "../names/ascii.ts";

export type InspectionStep =
  /** These bytes may be sent now, in this order; the rest is buffered until more is known. */
  | { readonly kind: "pass"; readonly bytes: readonly Uint8Array[] }
  /** `other`: the visible name, where there is one. */
  | { readonly kind: "refused"; readonly reason: Reason; readonly other: Destination | null };

export interface Inspection {
  /** Bytes from the program. */
  push(bytes: Uint8Array): InspectionStep;
  /** Bytes from the server, before they are delivered; they may release buffered bytes. */
  answer(bytes: Uint8Array): InspectionStep;
  /** The rest of the stream is not inspected. */
  readonly settled: boolean;
}

export const HELD: InspectionStep = { kind: "pass", bytes: [] };

export function refusedStep(reason: Reason, other: Destination | null = null): InspectionStep {
  return { kind: "refused", reason, other };
}

/** Parses a visible name; null where it is not one. A trailing dot and case are ignored. */
export function spokenHost(text: string): Destination | null {
  const host = parseHost(text, toAscii);
  return host.ok ? host.value : null;
}

/** Two hosts are equal when their canonical texts are. */
export function sameHost(one: Destination, other: Destination): boolean {
  return (one.name === null) === (other.name === null) && destinationText(one) === destinationText(other);
}
