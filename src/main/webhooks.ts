// The listener for webhooks: HTTP on the loopback address, `POST /api/trigger/NAME`. It reads a bounded request and hands it on; the
// daemon checks the signature. What is not understood is refused before anything else is done.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { HookAnswer, TasksPorts } from "../cli/tasks/ports.ts";

const ADDRESS = "127.0.0.1";
const bodyBytesMax = 65_536;
const connectionsMax = 64;
const requestMilliseconds = 10_000;
/** Of all senders together, signed or not: each request is a look at the state, and a refused one a line of the log. */
const requestsAMinuteMax = 120;
const minuteMilliseconds = 60_000;
const PATH = /^\/api\/trigger\/([a-z0-9][a-z0-9_-]{0,63})$/;
const SIGNATURE = /^sha256=([0-9a-f]{64})$/;
const SECONDS = /^[0-9]{1,12}$/;

const STATUS: Readonly<Record<HookAnswer, number>> = { accepted: 202, unsigned: 401, busy: 429, unavailable: 503 };

export const listenForHooks: TasksPorts["webhooks"] = async (port, handle) => {
  let requests: number[] = [];
  const isTooMany = (): boolean => {
    const now = performance.now();
    requests = requests.filter((at) => now - at < minuteMilliseconds);
    if (requests.length >= requestsAMinuteMax) return true;
    requests.push(now);
    return false;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const name = PATH.exec(request.url ?? "")?.[1];
    if (name === undefined) return ended(response, 404);
    if (request.method !== "POST") return ended(response, 405);
    // A page in a browser: it has no key, and must not take the place of those that have one.
    if (request.headers.origin !== undefined || request.headers["sec-fetch-site"] !== undefined)
      return ended(response, 403);
    if (isTooMany()) return ended(response, 429);
    const body = await bodyOf(request);
    if (typeof body === "number") return ended(response, body);
    const at = header(request, "x-ambit-timestamp");
    const signature = SIGNATURE.exec(header(request, "x-ambit-signature"))?.[1];
    const isSigned = SECONDS.test(at) && signature !== undefined;
    // An unsigned request is handed on, too: the daemon logs it.
    const hook = { name, at: isSigned ? Number(at) : 0, signature: isSigned ? signature : "", body };
    ended(response, STATUS[await handle(hook)]);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => ended(response, 503));
  });
  server.maxConnections = connectionsMax;
  server.requestTimeout = requestMilliseconds;
  server.headersTimeout = requestMilliseconds;
  const failure = await new Promise<Error | null>((give) => {
    server.once("error", give);
    server.listen(port, ADDRESS, () => give(null));
  });
  if (failure !== null) return { ok: false, message: failure.message };
  const bound = server.address();
  return {
    ok: true,
    address: `http://${ADDRESS}:${typeof bound === "object" && bound !== null ? bound.port : port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

function header({ headers }: IncomingMessage, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}

/** The text of the body, or the status that refuses it. */
async function bodyOf(request: IncomingMessage): Promise<string | number> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += (part as Buffer).length;
    if (length > bodyBytesMax) return 413;
    parts.push(part as Buffer);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    return 400;
  }
}

function ended(response: ServerResponse, status: number): void {
  if (response.headersSent) return;
  response.writeHead(status, { connection: "close", "content-type": "text/plain" }).end();
}
