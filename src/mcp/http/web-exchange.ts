// Between Node's HTTP messages and the web's: the SDK serves the latter.
import type { IncomingMessage, ServerResponse } from "node:http";
import { errorResponse, INVALID_REQUEST } from "../json-rpc.ts";

/** Null for more than `bytesMax`. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Without its body, which is passed on parsed. `signal` is aborted when the client disconnects. */
export function webRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  // INVARIANT: the client's token goes no further than to the check.
  for (const [name, value] of Object.entries(request.headers))
    if (name !== "authorization" && value !== undefined) headers.set(name, [value].flat().join(", "));
  return new Request(`http://localhost${request.url ?? "/"}`, { method: request.method ?? "GET", headers, signal });
}

/** Resolves when the response is sent, or the client has disconnected. */
export async function sendResponse(response: Response, to: ServerResponse): Promise<void> {
  to.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    to.end();
    return;
  }
  const reader = response.body.getReader();
  const isGone = new Promise<null>((gone) => to.once("close", () => gone(null)));
  to.flushHeaders();
  for (;;) {
    const next = await Promise.race([reader.read(), isGone]);
    if (next === null || to.destroyed) {
      await reader.cancel().catch(() => undefined);
      return;
    }
    if (next.done) break;
    if (!to.write(next.value)) await Promise.race([new Promise((drained) => to.once("drain", drained)), isGone]);
  }
  to.end();
}

/** An error before any message was read. */
export function errorAnswer(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(errorResponse(null, INVALID_REQUEST, message), { status, headers });
}
