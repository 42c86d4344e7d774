// Files for rooms that do not exist, and rows that are prose or about features we do not have.
import { type Family, notRun, pending, type Room } from "./outcome.ts";

export function waits(room: Room): Family {
  return { answers: [], run: () => pending(room) };
}

export function reads(why: string): Family {
  return { answers: [], run: () => notRun(why) };
}
