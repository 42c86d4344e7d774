// Entries that the verifier itself interprets: a key rotation, and a removal by retention.
import type { JsonObject } from "../../core/base/json.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import { readEntryBody } from "./entry-body.ts";

/** Outcome of an entry of kind `daemon` that names the next key; a checkpoint signed by the old key must follow it. */
export const KEY_ROTATED = "key_rotated";
/** Outcome of an entry of kind `daemon` that says up to which entry the log was pruned. */
export const ENTRIES_PRUNED = "entries_pruned";

export function rotationDetails(old: string, next: string): JsonObject {
  return { old, next };
}

/** `first`: the position of the first entry that remains. */
export function pruningDetails(first: number): JsonObject {
  return { first };
}

export type ChainEvent =
  | { readonly kind: "rotated"; readonly next: string }
  | { readonly kind: "pruned"; readonly first: number };

/** Null for every other entry; most are ruled out without parsing. */
export function chainEvent(body: string): ChainEvent | null {
  const entry = body.includes('"kind":"daemon"') ? readEntryBody(body) : null;
  return entry === null || entry.kind !== "daemon" ? null : eventOf(entry);
}

function eventOf({ outcome, more }: LogEntry): ChainEvent | null {
  const [next, first] = [more["next"], more["first"]];
  if (outcome === KEY_ROTATED && typeof next === "string") return { kind: "rotated", next };
  if (outcome === ENTRIES_PRUNED && typeof first === "number") return { kind: "pruned", first };
  return null;
}
