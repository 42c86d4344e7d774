// Bytes both ways between a program and the world, each side no faster than the other can take.

import type { Socket } from "node:net";
import { HELD, type Inspection, type Step } from "./inspection/inspection.ts";
import { idleMilliseconds } from "./limits.ts";
import { reset } from "./reset.ts";

export interface Splice {
  readonly inside: Socket;
  readonly outside: Socket;
  /** Null: nothing is looked at. */
  readonly inspection: Inspection | null;
  /** What the program said before there was anybody to say it to. */
  readonly opening: readonly Uint8Array[];
  refused(step: Extract<Step, { readonly kind: "refused" }>): void;
}

/** Kept when both ends are closed. The end of one direction does not end the other. */
export function splice({ inside, outside, inspection, opening, refused }: Splice): Promise<void> {
  return new Promise((done) => {
    const send = (bytes: readonly Uint8Array[]): boolean => {
      let isRoom = true;
      for (const part of bytes) if (part.length > 0) isRoom = outside.write(part);
      return isRoom;
    };
    const act = (step: Step): boolean => {
      if (step.kind === "pass") return send(step.bytes);
      refused(step);
      reset(inside);
      reset(outside);
      return true;
    };
    send(opening);
    forward(inside, outside, (bytes) =>
      inspection === null || inspection.settled ? outside.write(bytes) : act(inspection.push(bytes)),
    );
    forward(outside, inside, (bytes) => {
      if (inspection !== null && !inspection.settled) {
        const step = inspection.answer(bytes);
        if (step !== HELD) act(step);
      }
      return inside.destroyed || inside.write(bytes);
    });
    let open = 2;
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      one.setTimeout(idleMilliseconds, () => one.destroy());
      one.once("close", (hadError) => {
        // Ended both ways: the other side knows, and may still have something to deliver. Anything else is passed on
        // as a reset, for half an answer must not look like a whole one.
        if (hadError || !one.readableEnded || !one.writableFinished) reset(other);
        if (--open === 0) done();
      });
    }
    // What is paused has to be told to flow; what ended meanwhile says so then.
    inside.resume();
    outside.resume();
  });
}

function forward(from: Socket, to: Socket, take: (bytes: Uint8Array) => boolean): void {
  from.on("data", (bytes: Buffer) => {
    if (!take(bytes) && !to.destroyed) from.pause();
  });
  to.on("drain", () => from.resume());
  from.on("end", () => to.end());
}
