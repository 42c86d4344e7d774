// What the client of a request can do while its call runs, as it declared it (in the older era when it connected, in the newer one
// with every request), and what it hears meanwhile: log messages, and progress.
import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY, type ServerContext } from "@modelcontextprotocol/server";
import { isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import type { CallRequest } from "../core/ports/daemon/daemon-calls.ts";
import { progressMilliseconds } from "./limits.ts";

export type ReceivedRequest = ServerContext["mcpReq"];

/** Until a client of the older era says otherwise. */
export const firstLogLevel = "info";

/** `declared`, `level`: of the connection, for the older era. */
export function clientOf(
  request: ReceivedRequest,
  declared: object,
  level: string | null,
): Pick<CallRequest, "client" | "resume"> {
  const envelope = request.envelope as unknown as JsonObject | undefined;
  const own = envelope === undefined ? (declared as JsonObject) : member(envelope, CLIENT_CAPABILITIES_META_KEY);
  const logLevel = envelope === undefined ? level : member(envelope, LOG_LEVEL_META_KEY);
  const capabilities = isJsonObject(own) ? own : {};
  const state = request.requestState();
  return {
    client: {
      answers: [
        ...(isFormOffered(member(capabilities, "elicitation")) ? ["elicitation"] : []),
        ...(isJsonObject(member(capabilities, "sampling")) ? ["sampling"] : []),
      ],
      isProgressWanted: request._meta?.progressToken !== undefined,
      logLevel: typeof logLevel === "string" ? logLevel : null,
    },
    ...(typeof state === "string"
      ? { resume: { state, responses: (request.inputResponses ?? {}) as unknown as JsonObject } }
      : {}),
  };
}

/** A client that names no mode has forms. */
function isFormOffered(elicitation: Json | undefined): boolean {
  if (!isJsonObject(elicitation)) return false;
  return member(elicitation, "form") !== undefined || member(elicitation, "url") === undefined;
}

/** The SDK leaves out what the client did not ask for. */
export function logTo(request: ReceivedRequest, told: JsonObject): void {
  const { level, logger, data } = told;
  if (typeof level !== "string" || typeof logger !== "string" || data === undefined) return;
  const params = { level, logger, data };
  // A client that has disconnected needs no news.
  request.notify({ method: "notifications/message", params } as never).catch(() => undefined);
}

/** By the signal of the request, which all rounds of a call share: progress only ever grows. */
const sentOf = new WeakMap<AbortSignal, number>();

/** What the server of a tool says, and where it says nothing, that the call still runs: the client then goes on waiting. */
export class CallProgress {
  readonly #request: ReceivedRequest;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #message = "running";

  constructor(request: ReceivedRequest) {
    this.#request = request;
    if (request._meta?.progressToken === undefined) return;
    this.#timer = setInterval(() => this.#send(), progressMilliseconds);
    this.#timer.unref();
  }

  waits(approval: string): void {
    this.#message = `waiting for a person: ambit approve ${approval}`;
    this.#send();
  }

  /** From here on the server's own figures count. */
  relay(told: JsonObject): void {
    const [progress, total, message] = ["progress", "total", "message"].map((key) => member(told, key));
    if (typeof progress !== "number" || progress <= (sentOf.get(this.#request.signal) ?? -1)) return;
    clearInterval(this.#timer);
    this.#tell(progress, {
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message } : {}),
    });
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #send(): void {
    this.#tell((sentOf.get(this.#request.signal) ?? 0) + 1, { message: this.#message });
  }

  #tell(progress: number, more: { readonly total?: number; readonly message?: string }): void {
    const progressToken = this.#request._meta?.progressToken;
    if (progressToken === undefined) return;
    sentOf.set(this.#request.signal, progress);
    const params = { progressToken, progress, ...more };
    // A client that has disconnected needs no news.
    this.#request.notify({ method: "notifications/progress", params }).catch(() => undefined);
  }
}
