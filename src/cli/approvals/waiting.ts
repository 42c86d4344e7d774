// A call waits for a person: said once, with the command that answers it.
import { isJsonList, isJsonObject, type Json, member } from "../../core/base/json.ts";
import { visibleText } from "../terminal/cells.ts";
import type { Paint } from "../terminal/paint.ts";

export function tellWaiting(ports: { readonly paint: Paint; printError(text: string): void }, event: Json): void {
  const waiting = isJsonObject(event) ? member(event, "waiting") : undefined;
  if (typeof waiting === "string")
    ports.printError(
      `${ports.paint.warn("ambit")}: waiting for approval; to approve: ambit approve ${visibleText(waiting)}`,
    );
}

/** Sentences about the start of a client: what its home does not have, and why. */
export function tellNotes(ports: { readonly paint: Paint; printError(text: string): void }, event: Json): void {
  const notes = isJsonObject(event) ? member(event, "notes") : undefined;
  if (!isJsonList(notes)) return;
  for (const note of notes)
    if (typeof note === "string") ports.printError(`${ports.paint.warn("ambit")}: ${visibleText(note)}`);
}
