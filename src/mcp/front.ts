// Before the protocol's own library hears of a message: calls are kept from it, and so is what it would drop in silence, which is
// answered here.
import { isJsonObject, type Json, type JsonObject, member } from "../authority/json.ts";
import { type CallAsked, readCall } from "./call-asked.ts";
import { otherVersionAnswer } from "./claimed-version.ts";
import { lineBytesMax } from "./limits.ts";
import type { Line } from "./line-cutter.ts";
import { metaFlaw } from "./message-meta.ts";
import { type Era, opener, SpokenEra } from "./spoken-era.ts";
import { Wanted } from "./wanted.ts";
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
  /** For the library. */
  | { readonly kind: "message"; readonly message: JsonObject }
  /** For us. The library is told of `opens` before: it has to speak the era of the call from then on. */
  | { readonly kind: "call"; readonly call: CallAsked; readonly opens: JsonObject | null }
  | { readonly kind: "answer"; readonly answer: JsonObject }
  | { readonly kind: "nothing" }
  /** The client wants no more; later lines do not count. */
  | { readonly kind: "end"; readonly answer: JsonObject | null };

/** The newest version that is agreed on by `initialize`. */
const agreedVersion = "2025-11-25";
const NOTHING: Heard = { kind: "nothing" };
const NONE: JsonObject = {};
const OPENER = "ambit/opening";

export class Front {
  /** Requests that wait for their answer; calls are taken back by what they are kept with. */
  readonly #open = new Map<RequestId, Wanted | null>();
  readonly #era = new SpokenEra();
  /** The id of what the library was told to open it, until it has answered that. */
  #opener: string | null = null;
  /** What a request says about versions counts for nothing once one was agreed on. */
  #isAgreed = false;

  get inFlight(): number {
    return this.#open.size;
  }

  /** It was answered, or nobody waits for the answer any more. */
  settle(id: RequestId): void {
    this.#open.delete(id);
    if (id === this.#opener) this.#opener = null;
  }

  /** Whether it was only said to open the library: nobody else wants to hear the answer. */
  isOpener(id: RequestId): boolean {
    return id === this.#opener;
  }

  /** Nobody is left who waits. */
  takeAllBack(): void {
    for (const wanted of this.#open.values()) wanted?.takeBack();
    this.#open.clear();
  }

  hear(line: Line): Heard {
    if (line.kind === "long") {
      const id = idAtEdges(line.head.toString("latin1"), line.tail.toString("latin1"));
      return answer(errorAnswer(id, INVALID_REQUEST, `a line has at most ${lineBytesMax} bytes`));
    }
    const value = parsed(line.text);
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
    const flaw = hasParams ? metaFlaw(params ?? NONE) : "`params` is one object";
    if (id === undefined) return flaw === null ? this.#notification(method, params as JsonObject | undefined) : NOTHING;
    if (known === null) return invalid(null, "`id` is a text or a whole number");
    if (flaw !== null) return answer(errorAnswer(known, INVALID_PARAMS, flaw));
    return this.#request(known, method, params as JsonObject | undefined);
  }

  #response(value: JsonObject, id: RequestId): Heard {
    const isResponse = isJsonObject(member(value, "result")) || isJsonObject(member(value, "error"));
    return isResponse ? { kind: "message", message: value } : invalid(id, "`method` is missing");
  }

  #notification(method: string, params: JsonObject | undefined): Heard {
    if (method === "exit") return { kind: "end", answer: null };
    if (method === "notifications/cancelled") {
      const id = member(params ?? NONE, "requestId");
      if (!isRequestId(id) || this.isOpener(id)) return NOTHING;
      const wanted = this.#open.get(id) ?? null;
      this.settle(id);
      wanted?.takeBack();
      if (wanted !== null) return NOTHING;
    }
    const message = { jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) };
    this.#era.notification(message);
    return { kind: "message", message };
  }

  #request(id: RequestId, method: string, params: JsonObject | undefined): Heard {
    if (this.#open.has(id)) return invalid(null, "`id` is in use by a request that is not answered yet");
    if (method === "exit") return { kind: "end", answer: resultAnswer(id, {}) };
    if (method === "shutdown") return answer(resultAnswer(id, {}));
    const isInitialize = method === "initialize";
    const other = this.#isAgreed || isInitialize ? null : otherVersionAnswer(params ?? NONE, id);
    if (other !== null) return answer(other);
    if (method === "tools/call") return this.#call(id, params ?? NONE);
    // It lasts as long as the connection, so nobody waits for its answer.
    if (method !== "subscriptions/listen") this.#open.set(id, null);
    const given = isInitialize ? withAgreement(params ?? NONE) : params;
    const message = { jsonrpc: "2.0", id, method, ...(given === undefined ? {} : { params: given }) };
    this.#era.request(message, method);
    if (isInitialize && this.#era.decided === "legacy") this.#isAgreed = true;
    return { kind: "message", message };
  }

  #call(id: RequestId, params: JsonObject): Heard {
    const isFirst = this.#era.decided === null;
    const era = this.#era.call(params, id);
    if (typeof era !== "string") return answer(era);
    const wanted = new Wanted();
    this.#open.set(id, wanted);
    return { kind: "call", call: readCall(id, params, era, wanted), opens: isFirst ? this.#opens(era) : null };
  }

  /** INVARIANT: its id is nobody's as long as it is not answered. */
  #opens(era: Era): JsonObject {
    let id = OPENER;
    while (this.#open.has(id)) id += "+";
    this.#open.set(id, null);
    this.#opener = id;
    return opener(era, id);
  }
}

/** Undefined for what is no JSON, null for a line with nothing on it. */
function parsed(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return value === null ? [] : value;
  } catch {
    return text.trim() === "" ? null : undefined;
  }
}

/** Who says nothing about itself is somebody with no special wishes. */
function withAgreement(params: JsonObject): JsonObject {
  const client = objectAt(params, "clientInfo");
  const version = member(params, "protocolVersion");
  const text = (key: string, otherwise: string): string => {
    const given = member(client, key);
    return typeof given === "string" ? given : otherwise;
  };
  return {
    ...params,
    protocolVersion: typeof version === "string" ? version : agreedVersion,
    capabilities: objectAt(params, "capabilities"),
    clientInfo: { ...client, name: text("name", "unknown"), version: text("version", "0") },
  };
}

function invalid(id: RequestId | null, message: string): Heard {
  return answer(errorAnswer(id, INVALID_REQUEST, message));
}

function answer(told: JsonObject): Heard {
  return { kind: "answer", answer: told };
}
