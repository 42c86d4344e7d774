// Files whose room is not built, and rows that are only prose or speak of what we do not have.
import { type Family, notRun, pending, type Room } from "./outcome.ts";

export function waits(room: Room): Family {
  return { answers: [], run: () => pending(room) };
}

export function reads(why: string): Family {
  return { answers: [], run: () => notRun(why) };
}
