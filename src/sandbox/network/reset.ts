// Ending a connection so that nobody takes it for a proper end.
import type { Socket } from "node:net";

/**
 * INVARIANT: the socket closes, whatever state it is in. While the end of one direction is being sent, a reset is refused
 * by the system's event loop, and Node then neither closes the socket nor says so; by then all bytes have been delivered,
 * so that closing loses nothing.
 */
export function reset(socket: Socket): void {
  const isEnding = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isEnding) socket.destroy();
  else socket.resetAndDestroy();
}
