// DNS over a stream: each message is prefixed by its length.

import type { Socket } from "node:net";
import { nameConnectionIdleMilliseconds, questionBytesMax } from "../limits.ts";
import { reset } from "../reset.ts";

/** Resolves when the connection is over. A length beyond the limit closes it. */
export function serveQuestions(socket: Socket, answer: (bytes: Uint8Array) => Uint8Array | null): Promise<void> {
  return new Promise((done) => {
    let held: Buffer = Buffer.alloc(0);
    socket.setTimeout(nameConnectionIdleMilliseconds, () => socket.destroy());
    socket.once("close", () => done());
    socket.on("end", () => socket.end());
    socket.on("data", (bytes: Buffer) => {
      held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      while (held.length >= 2) {
        const length = held.readUInt16BE(0);
        if (length > questionBytesMax) return void reset(socket);
        if (held.length < 2 + length) return;
        const answered = answer(held.subarray(2, 2 + length));
        held = held.subarray(2 + length);
        if (answered === null) return void reset(socket);
        const size = Buffer.alloc(2);
        size.writeUInt16BE(answered.length);
        // Backpressure: a client that does not read gets no further answer.
        if (!socket.write(Buffer.concat([size, answered]))) return void reset(socket);
      }
    });
    socket.resume();
  });
}
