// Sockets that were opened inside a sandbox's network and are served outside. They arrive as handles over Node's IPC
// channel; these two functions turn a handle into a server again.
import dgram from "node:dgram";
import net from "node:net";
import { bufferBytes } from "./dial.ts";

/** A listening socket. Null for any other handle. */
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
      // An error is always followed by the close event, which is handled.
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

/** A connected socket, paused. Null for any other handle. */
export function connectionOf(handle: unknown): net.Socket | null {
  if (!isListener(handle)) return null;
  try {
    // Not in the types: a native handle instead of a descriptor, as Node's own server passes it.
    const options = { handle, allowHalfOpen: true, pauseOnCreate: true, highWaterMark: bufferBytes };
    const socket = new net.Socket(options as unknown as net.SocketConstructorOpts);
    socket.on("error", () => undefined);
    socket.setNoDelay(true);
    return socket;
  } catch {
    return null;
  }
}

/** A bound datagram socket. Null for any other handle. */
export function datagramsOf(
  handle: unknown,
  take: (bytes: Uint8Array, from: dgram.RemoteInfo) => void,
): dgram.Socket | null {
  if (!isDatagrams(handle)) return null;
  const socket = dgram.createSocket("udp4");
  socket.on("error", () => undefined);
  socket.on("message", take);
  // Not in the types: an object with `recvStart` is taken as the handle itself, as Node's own cluster module does.
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
