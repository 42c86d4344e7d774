// Forwards bytes both ways between a program and a server, with backpressure.

import type { Socket } from "node:net";
import { HELD, type Inspection, type InspectionStep } from "./inspection/inspection.ts";
import { idleMilliseconds } from "./limits.ts";
import { reset } from "./reset.ts";

export interface Splice {
  readonly inside: Socket;
  readonly outside: Socket;
  /** Null: no inspection. */
  readonly inspection: Inspection | null;
  /** Bytes the program sent before the outbound connection existed. */
  readonly opening: readonly Uint8Array[];
  refused(step: Extract<InspectionStep, { readonly kind: "refused" }>): void;
}

/** Resolves when both sockets are closed. The end of one direction does not end the other. */
export function splice({ inside, outside, inspection, opening, refused }: Splice): Promise<void> {
  return new Promise((done) => {
    const send = (bytes: readonly Uint8Array[]): boolean => {
      let isRoom = true;
      for (const part of bytes) if (part.length > 0) isRoom = outside.write(part);
      return isRoom;
    };
    const act = (step: InspectionStep): boolean => {
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
        // Ended in both directions: the peer knows, and may still have bytes to deliver. Anything else is forwarded as
        // a reset, because a partial response must not look complete.
        if (hadError || !one.readableEnded || !one.writableFinished) reset(other);
        if (--open === 0) done();
      });
    }
    // Paused sockets must be resumed; one that ended in the meantime reports it then.
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
