// Sockets that were opened inside a sandbox's network and are served out here. They arrive as the handles Node sends
// between processes; these two functions are all that knows how such a handle becomes a server again.
import dgram from "node:dgram";
import net from "node:net";
import { bufferBytes } from "./dial.ts";

/** A listener as it arrived. Null for a handle that is none. */
export function serverOf(handle: unknown, accept: (socket: net.Socket) => void): Promise<net.Server | null> {
  return new Promise((give) => {
    if (!isListener(handle)) return give(null);
    const server = net.createServer({
      allowHalfOpen: true,
      pauseOnConnect: true,
      noDelay: true,
      ...{ highWaterMark: bufferBytes },
    });
    server.on("connection", (socket) => {
      // An error is always followed by the event that the socket closed, and that is what is listened for.
      socket.on("error", () => undefined);
      accept(socket);
    });
    server.once("error", () => give(null));
    server.listen(handle, () => {
      server.removeAllListeners("error");
      server.on("error", () => undefined);
      give(server);
    });
  });
}

/** A datagram socket that is bound already. Null for a handle that is none. */
export function datagramsOf(
  handle: unknown,
  take: (bytes: Uint8Array, from: dgram.RemoteInfo) => void,
): dgram.Socket | null {
  if (!isDatagrams(handle)) return null;
  const socket = dgram.createSocket("udp4");
  socket.on("error", () => undefined);
  socket.on("message", take);
  // Not in the types: what has `recvStart` is taken as the handle itself, as Node's own cluster does it.
  socket.bind(handle as unknown as dgram.BindOptions);
  return socket;
}

/** What any handle offers. */
export interface Handle {
  close(): void;
}

export function isHandle(handle: unknown): handle is Handle {
  return typeof handle === "object" && handle !== null && typeof (handle as Partial<Handle>).close === "function";
}

function isListener(handle: unknown): boolean {
  return isHandle(handle) && typeof (handle as { readonly listen?: unknown }).listen === "function";
}

function isDatagrams(handle: unknown): boolean {
  return isHandle(handle) && typeof (handle as { readonly recvStart?: unknown }).recvStart === "function";
}
