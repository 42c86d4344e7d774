// Parses each line from the client and decides who answers it: the SDK's handlers, or an error response here for messages
// that the SDK would drop without one. Tracks which requests are unanswered.
import { isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import type { Line } from "../text/line-reader.ts";
import {
  errorResponse,
  INVALID_PARAMS,
  INVALID_REQUEST,
  idAtEdges,
  isRequestId,
  PARSE_ERROR,
  type RequestId,
  resultResponse,
} from "./json-rpc.ts";
import { lineBytesMax } from "./limits.ts";
import {
  type CallProblem,
  callParams,
  initializeParams,
  metaProblem,
  unsupportedVersionResponse,
} from "./request-params.ts";

export type Inbound =
  /** Pass it to the SDK. */
  | { readonly kind: "message"; readonly message: JsonObject }
  /** Send this response. */
  | { readonly kind: "response"; readonly response: JsonObject }
  | { readonly kind: "ignore" }
  /** The client asked to end: send the response, if any, and read no more lines. */
  | { readonly kind: "end"; readonly response: JsonObject | null };

interface PendingRequest {
  readonly method: string;
  readonly problem: CallProblem | null;
}

const IGNORE: Inbound = { kind: "ignore" };
const EMPTY: JsonObject = {};

export class InboundMessages {
  readonly #pending = new Map<RequestId, PendingRequest>();
  /** After `initialize`, versions named in later requests have no effect. */
  #isNegotiated = false;

  get inFlight(): number {
    return this.#pending.size;
  }

  /** What is wrong with a pending call; null for a cancelled one too. */
  callProblem(id: RequestId): CallProblem | null {
    return this.#pending.get(id)?.problem ?? null;
  }

  /** Records that the SDK answered a request. */
  answered(id: RequestId, isResult: boolean): void {
    if (isResult && this.#pending.get(id)?.method === "initialize") this.#isNegotiated = true;
    this.#pending.delete(id);
  }

  read(line: Line): Inbound {
    if (line.kind === "long") {
      const id = idAtEdges(line.head.toString("latin1"), line.tail.toString("latin1"));
      return respond(errorResponse(id, INVALID_REQUEST, `a line has at most ${lineBytesMax} bytes`));
    }
    if (line.text.trim() === "") return IGNORE;
    const value = parse(line.text);
    if (value === undefined) return respond(errorResponse(null, PARSE_ERROR, "the line is not JSON"));
    if (!isJsonObject(value)) return invalid(null, "a message must be an object");
    const id = member(value, "id");
    const requestId = isRequestId(id) ? id : null;
    if (member(value, "jsonrpc") !== "2.0") return invalid(requestId, '`jsonrpc` must be "2.0"');
    const method = member(value, "method");
    if (method === undefined) return this.#response(value, requestId);
    if (typeof method !== "string") return invalid(requestId, "`method` must be a string");
    const params = member(value, "params");
    const isParams = params === undefined || isJsonObject(params);
    const problem = isParams ? metaProblem(params ?? EMPTY) : "`params` must be an object";
    if (id === undefined)
      return problem === null ? this.#notification(method, params as JsonObject | undefined) : IGNORE;
    if (requestId === null) return invalid(null, "`id` must be a string or an integer");
    if (problem !== null) return respond(errorResponse(requestId, INVALID_PARAMS, problem));
    return this.#request(requestId, method, params as JsonObject | undefined);
  }

  #response(value: JsonObject, id: RequestId | null): Inbound {
    const isResponse = isJsonObject(member(value, "result")) || isJsonObject(member(value, "error"));
    if (id === null || !isResponse) return invalid(id, "`method` is missing");
    return { kind: "message", message: value };
  }

  #notification(method: string, params: JsonObject | undefined): Inbound {
    if (method === "exit") return { kind: "end", response: null };
    if (method !== "notifications/cancelled") return message({ method, params });
    const { requestId, reason, ...rest } = params ?? EMPTY;
    if (!isRequestId(requestId)) return IGNORE;
    // A cancelled request gets no response, so its id is free again.
    this.#pending.delete(requestId);
    // The SDK drops a cancellation whose reason is malformed, and the call would go on.
    const kept = typeof reason === "string" ? { reason } : {};
    return message({ method, params: { ...rest, ...kept, requestId } });
  }

  #request(id: RequestId, method: string, params: JsonObject | undefined): Inbound {
    if (this.#pending.has(id)) return invalid(null, "`id` belongs to a request that is not answered yet");
    if (method === "exit") return { kind: "end", response: resultResponse(id, {}) };
    if (method === "shutdown") return respond(resultResponse(id, {}));
    const isInitialize = method === "initialize";
    const rejected = this.#isNegotiated || isInitialize ? null : unsupportedVersionResponse(params ?? EMPTY, id);
    if (rejected !== null) return respond(rejected);
    const call = method === "tools/call" ? callParams(params ?? EMPTY) : null;
    // A subscription lasts as long as the connection: its response is not waited for.
    if (method !== "subscriptions/listen") this.#pending.set(id, { method, problem: call?.problem ?? null });
    if (isInitialize) return message({ id, method, params: initializeParams(params ?? EMPTY) });
    return message({ id, method, params: call?.params ?? params });
  }
}

/** Undefined for text that is not JSON. */
function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Only the members JSON-RPC defines: the SDK drops a message that has others. */
function message(members: {
  readonly id?: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
}): Inbound {
  const { params, ...rest } = members;
  return { kind: "message", message: { jsonrpc: "2.0", ...rest, ...(params === undefined ? {} : { params }) } };
}

function invalid(id: RequestId | null, text: string): Inbound {
  return respond(errorResponse(id, INVALID_REQUEST, text));
}

function respond(response: JsonObject): Inbound {
  return { kind: "response", response };
}
