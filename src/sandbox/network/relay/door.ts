// The door of a sandbox's session on the relay's port: a bounded request goes to the daemon, its answer comes back.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { DoorAnswer, DoorCall } from "../../../core/ports/daemon/door.ts";
import { type Check, exactly, flag, isShape, text, whole } from "../shape.ts";
import { type ByteBudget, receiveBody } from "./relay-body.ts";

const PREFIX = "/ambit/";
export const doorCallsMax = 32;
const bodyCharactersMax = 1_048_576;
const answerCharactersMax = 8_388_608;

export interface DoorQuestion extends DoorCall {
  readonly kind: "door-request";
  readonly number: number;
  readonly sandbox: string;
}

export interface DoorReply extends DoorAnswer {
  readonly kind: "door-answer";
  readonly number: number;
}

const number: Check<number> = whole(1, Number.MAX_SAFE_INTEGER);

export function readDoorQuestion(value: unknown): DoorQuestion | null {
  const sandbox = text(64, /^[A-Za-z0-9_.-]+$/);
  const question = isShape<DoorQuestion>(value, {
    ...{ kind: exactly("door-request"), number, sandbox, isText: flag },
    route: text(16, /^[a-z]+$/),
    body: text(bodyCharactersMax),
  });
  return question ? value : null;
}

export function readDoorReply(value: unknown): DoorReply | null {
  const reply = isShape<DoorReply>(value, {
    ...{ kind: exactly("door-answer"), number, status: whole(200, 599) },
    body: text(answerCharactersMax),
  });
  return reply ? value : null;
}

export function isDoorTarget(target: string): boolean {
  return target.startsWith(PREFIX);
}

/** `ask`: null where the daemon did not answer. */
export async function serveDoor(
  request: IncomingMessage,
  response: ServerResponse,
  bodies: ByteBudget,
  ask: (call: DoorCall) => Promise<DoorAnswer | null>,
): Promise<void> {
  const route = (request.url ?? "").slice(PREFIX.length);
  // Requiring JSON forces a CORS preflight, so a page in a browser inside the sandbox cannot call this.
  const isJson = /^application\/json\b/i.test(request.headers["content-type"] ?? "");
  if (request.method !== "POST" || !isJson)
    return send(response, { status: 405, body: "POST with application/json\n" });
  if (!/^[a-z]{1,16}$/.test(route)) return send(response, { status: 404, body: "can, why, mcp\n" });
  const held = { bytes: 0 };
  try {
    const received = await receiveBody(request, bodies, held);
    if (!received.ok) return send(response, { status: received.status, body: `${received.message}\n` });
    const body = received.body.toString("utf8");
    if (body.length > bodyCharactersMax) return send(response, { status: 413, body: "the request is too large\n" });
    const isText = request.headers.accept === "text/plain";
    const answer = await ask({ route, body, isText });
    send(response, answer ?? { status: 503, body: "the session does not respond\n" });
  } finally {
    bodies.release(held.bytes);
  }
}

function send(response: ServerResponse, { status, body }: DoorAnswer): void {
  const bytes = Buffer.from(body, "utf8");
  const type = body.startsWith("{") ? "application/json" : "text/plain; charset=utf-8";
  response.writeHead(status, { "content-type": type, "content-length": bytes.length, "cache-control": "no-store" });
  response.end(bytes);
}
