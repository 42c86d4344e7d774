// One connection outwards, to one address that was decided on, and to nothing else.
import net from "node:net";
import { type Address, addressText, parseAddress } from "../../core/base/address.ts";
import { dialMilliseconds } from "./limits.ts";

/** What a socket holds before it asks its other side to wait. */
export const bufferBytes = 262_144;

/** Null for whatever kept it from being made. */
export function dial(address: Address, port: number, stop: AbortSignal): Promise<net.Socket | null> {
  return new Promise((give) => {
    if (stop.aborted) return give(null);
    const socket = net.connect({
      host: addressText(address),
      port,
      allowHalfOpen: true,
      noDelay: true,
      autoSelectFamily: false,
      // INVARIANT: an address is dialled, so there is nothing to look up; if there ever were, it fails here.
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
    // Stays for good: an error after this is followed by the event that the socket closed.
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
