// Opens one outbound connection to one address that was decided on.
import net from "node:net";
import { type Address, addressText, parseAddress } from "../../core/base/address.ts";
import { dialMilliseconds } from "./limits.ts";

/** How much a socket buffers before it applies backpressure. */
export const bufferBytes = 262_144;

/** Null for any failure. */
export function dial(address: Address, port: number, stop: AbortSignal): Promise<net.Socket | null> {
  return new Promise((give) => {
    if (stop.aborted) return give(null);
    const socket = net.connect({
      host: addressText(address),
      port,
      allowHalfOpen: true,
      noDelay: true,
      autoSelectFamily: false,
      // INVARIANT: an address is dialled, so there is nothing to look up; a lookup fails here.
      lookup: (_host, _options, done) => done(new Error("no name is looked up while dialling"), "", 4),
      ...{ highWaterMark: bufferBytes },
    });
    const failed = (): void => {
      clearTimeout(timer);
      stop.removeEventListener("abort", failed);
      socket.destroy();
      give(null);
    };
    const timer = setTimeout(failed, dialMilliseconds);
    stop.addEventListener("abort", failed, { once: true });
    // Stays attached: a later error is followed by the close event.
    socket.on("error", failed);
    socket.once("connect", () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", failed);
      if (!isAt(socket, address)) return failed();
      socket.pause();
      give(socket);
    });
  });
}

function isAt(socket: net.Socket, address: Address): boolean {
  const reached = parseAddress(socket.remoteAddress ?? "");
  return reached !== null && reached.family === address.family && reached.number === address.number;
}
