// A call waits for a person: said once, with the command that answers it.
import { isJsonObject, type Json, member } from "../../core/base/json.ts";
import { shown } from "../terminal/cells.ts";
import type { Paint } from "../terminal/paint.ts";

export function tellWaiting(world: { readonly paint: Paint; printError(text: string): void }, event: Json): void {
  const waiting = isJsonObject(event) ? member(event, "waiting") : undefined;
  if (typeof waiting === "string")
    world.printError(`${world.paint.warn("ambit")}: waiting for approval; to approve: ambit approve ${shown(waiting)}`);
}
