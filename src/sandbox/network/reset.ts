// Resets a connection, so that the peer does not take it for a regular end.
import type { Socket } from "node:net";

/**
 * INVARIANT: the socket closes in any state. While the end of one direction is being sent, libuv refuses a reset, and
 * Node then neither closes the socket nor reports it; by then all bytes have been delivered, so that closing loses
 * nothing.
 */
export function reset(socket: Socket): void {
  const isEnding = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isEnding) socket.destroy();
  else socket.resetAndDestroy();
}
