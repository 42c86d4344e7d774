// Before the protocol's own library hears of a message: what it would drop in silence is answered here, and what it would
// turn into an error of the protocol is put right, so that the model is told what was wrong.
import { copyJson, isJsonObject, type Json, type JsonObject, member } from "../authority/json.ts";
import { otherVersionAnswer } from "./claimed-version.ts";
import { lineBytesMax } from "./limits.ts";
import type { Line } from "./line-cutter.ts";
import {
  errorAnswer,
  INVALID_PARAMS,
  INVALID_REQUEST,
  idAtEdges,
  isRequestId,
  objectAt,
  PARSE_ERROR,
  type RequestId,
  resultAnswer,
} from "./wire-message.ts";

export type Heard =
  | { readonly kind: "message"; readonly message: JsonObject }
  | { readonly kind: "answer"; readonly answer: JsonObject }
  | { readonly kind: "nothing" }
  /** The client wants no more; later lines do not count. */
  | { readonly kind: "end"; readonly answer: JsonObject | null };

/** The newest version that is agreed on by `initialize`. */
const agreedVersion = "2025-11-25";
const NOTHING: Heard = { kind: "nothing" };

export class Front {
  /** Requests that wait for their answer. */
  readonly #open = new Set<RequestId>();
  readonly #flaws = new Map<RequestId, string>();
  /** What a request says about versions counts for nothing once one was agreed on. */
  #isAgreed = false;

  get inFlight(): number {
    return this.#open.size;
  }

  /** What is wrong with a call that was put right; null for every other. */
  flawOf(id: RequestId): string | null {
    return this.#flaws.get(id) ?? null;
  }

  /** It was answered, or nobody waits for the answer any more. */
  settle(id: RequestId): void {
    this.#open.delete(id);
    this.#flaws.delete(id);
  }

  hear(line: Line): Heard {
    if (line.kind === "long") {
      const id = idAtEdges(line.head.toString("latin1"), line.tail.toString("latin1"));
      return answer(errorAnswer(id, INVALID_REQUEST, `a line has at most ${lineBytesMax} bytes`));
    }
    const value = parsed(line.bytes);
    if (value === null) return NOTHING;
    if (value === undefined) return answer(errorAnswer(null, PARSE_ERROR, "this line is not JSON"));
    if (!isJsonObject(value)) return invalid(null, "a message is one object");
    const id = member(value, "id");
    const known = isRequestId(id) ? id : null;
    if (member(value, "jsonrpc") !== "2.0") return invalid(known, '`jsonrpc` is "2.0"');
    const method = member(value, "method");
    if (method === undefined)
      return known === null ? invalid(null, "`method` is missing") : this.#response(value, known);
    if (typeof method !== "string") return invalid(known, "`method` is a text");
    const params = member(value, "params");
    const hasParams = params === undefined || isJsonObject(params);
    if (id === undefined) return hasParams ? this.#notification(value, method) : NOTHING;
    if (known === null) return invalid(null, "`id` is a text or a whole number");
    if (!hasParams) return answer(errorAnswer(known, INVALID_PARAMS, "`params` is one object"));
    return this.#request(value, known, method);
  }

  #response(value: JsonObject, id: RequestId): Heard {
    const isResponse = isJsonObject(member(value, "result")) || isJsonObject(member(value, "error"));
    return isResponse ? { kind: "message", message: value } : invalid(id, "`method` is missing");
  }

  #notification(value: JsonObject, method: string): Heard {
    if (method === "exit") return { kind: "end", answer: null };
    if (method === "notifications/cancelled") {
      const id = member(objectAt(value, "params"), "requestId");
      if (!isRequestId(id)) return NOTHING;
      this.settle(id);
    }
    return { kind: "message", message: value };
  }

  #request(value: JsonObject, id: RequestId, method: string): Heard {
    if (this.#open.has(id)) return invalid(null, "`id` is in use by a request that is not answered yet");
    if (method === "exit") return { kind: "end", answer: resultAnswer(id, {}) };
    if (method === "shutdown") return answer(resultAnswer(id, {}));
    if (method === "initialize") this.#isAgreed = true;
    const other = this.#isAgreed ? null : otherVersionAnswer(value, id);
    if (other !== null) return answer(other);
    // It lasts as long as the connection, so nobody waits for its answer.
    if (method !== "subscriptions/listen") this.#open.add(id);
    if (method === "initialize") return { kind: "message", message: withAgreement(value) };
    return { kind: "message", message: method === "tools/call" ? this.#call(value, id) : value };
  }

  /** A call that names no tool, or whose arguments are none, is still a call: its result says so. */
  #call(value: JsonObject, id: RequestId): JsonObject {
    const params = objectAt(value, "params");
    const name = member(params, "name");
    const input = member(params, "arguments") ?? {};
    const flaw =
      typeof name !== "string" || name === ""
        ? "`name` is the name of a tool"
        : !isJsonObject(input)
          ? "`arguments` is one object"
          : copyJson(input) === undefined
            ? "the arguments are too deep, or hold a number that is too large"
            : null;
    if (flaw === null) return value;
    this.#flaws.set(id, flaw);
    const named = typeof name === "string" ? name : "";
    return { ...value, params: { ...params, name: named, arguments: {} } };
  }
}

/** Undefined for what is no JSON, null for a line with nothing on it. */
function parsed(bytes: Buffer): Json | undefined {
  const text = bytes.toString("utf8");
  if (text.trim() === "") return null;
  try {
    const value = JSON.parse(text) as Json;
    return value === null ? [] : value;
  } catch {
    return undefined;
  }
}

/** Who says nothing about itself is somebody with no special wishes. */
function withAgreement(value: JsonObject): JsonObject {
  const params = objectAt(value, "params");
  const client = objectAt(params, "clientInfo");
  const version = member(params, "protocolVersion");
  const text = (key: string, otherwise: string): string => {
    const given = member(client, key);
    return typeof given === "string" ? given : otherwise;
  };
  return {
    ...value,
    params: {
      ...params,
      protocolVersion: typeof version === "string" ? version : agreedVersion,
      capabilities: objectAt(params, "capabilities"),
      clientInfo: { ...client, name: text("name", "unknown"), version: text("version", "0") },
    },
  };
}

function invalid(id: RequestId | null, message: string): Heard {
  return answer(errorAnswer(id, INVALID_REQUEST, message));
}

function answer(told: JsonObject): Heard {
  return { kind: "answer", answer: told };
}
