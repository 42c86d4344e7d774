// The first words of a program that has to speak first, before anybody outside is called.
import type { Socket } from "node:net";
import { openingMilliseconds } from "../limits.ts";
import type { Inspection, Step } from "./inspection.ts";

/** What may go out; a refusal; or null where the program left, or said nothing for too long. */
export type Opening = Step | null;

/** Leaves the socket paused, with whatever was not read yet still in it. */
export function readOpening(socket: Socket, inspection: Inspection): Promise<Opening> {
  return new Promise((give) => {
    const settle = (opening: Opening): void => {
      clearTimeout(timer);
      socket.off("data", read).off("end", gone).off("close", gone);
      socket.pause();
      give(opening);
    };
    const gone = (): void => settle(null);
    const timer = setTimeout(gone, openingMilliseconds);
    const read = (bytes: Buffer): void => {
      const step = inspection.push(bytes);
      if (step.kind === "refused" || step.bytes.length > 0) settle(step);
    };
    socket.on("data", read).on("end", gone).on("close", gone);
    socket.resume();
  });
}
