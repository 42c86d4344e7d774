// Reads the first bytes of a program that must speak first, before any outbound connection.
import type { Socket } from "node:net";
import { openingMilliseconds } from "../limits.ts";
import type { Inspection, InspectionStep } from "./inspection.ts";

/** Bytes to send; a refusal; or null where the program left, or was silent for too long. */
export type OpeningResult = InspectionStep | null;

/** Leaves the socket paused, with unread bytes still in it. */
export function readOpening(socket: Socket, inspection: Inspection): Promise<OpeningResult> {
  return new Promise((give) => {
    const settle = (opening: OpeningResult): void => {
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
