// Messages from the daemon, as the client parses them. The socket folder is private to the account, so the server is trusted;
// an invalid message still ends the connection.
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Answer, Refusal } from "../../core/ports/daemon/exchange.ts";

export type DaemonMessage =
  | { readonly kind: "hello"; readonly protocol: number; readonly version: string }
  | { readonly kind: "answer"; readonly id: number; readonly answer: Answer<object> }
  | { readonly kind: "event"; readonly id: number; readonly event: Json }
  | { readonly kind: "took"; readonly id: number; readonly bytes: number }
  | { readonly kind: "told"; readonly event: Json }
  | { readonly kind: "pong" }
  /** For the whole connection, which is then closed. */
  | { readonly kind: "refused"; readonly refusal: Refusal };

export function readDaemonMessage(text: string | null): DaemonMessage | null {
  const message = objectOf(text);
  if (message === null) return null;
  const { hello, id, event, took, ok, value } = message;
  if (hello !== undefined) return helloOf(hello);
  const refusal = ok === false ? refusalOf(message) : null;
  if (id === undefined) {
    if (message["pong"] === true) return { kind: "pong" };
    if (refusal !== null) return { kind: "refused", refusal };
    return event === undefined ? null : { kind: "told", event };
  }
  if (typeof id !== "number") return null;
  if (event !== undefined) return { kind: "event", id, event };
  if (typeof took === "number") return { kind: "took", id, bytes: took };
  if (refusal !== null) return { kind: "answer", id, answer: refusal };
  const isAnswer = ok === true && typeof value === "object" && value !== null;
  return isAnswer ? { kind: "answer", id, answer: { ok: true, value } } : null;
}

function objectOf(text: string | null): JsonObject | null {
  try {
    const value: Json = JSON.parse(text ?? "null");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

function helloOf(hello: Json): DaemonMessage | null {
  if (typeof hello !== "object" || hello === null || Array.isArray(hello)) return null;
  const { protocol, version } = hello as JsonObject;
  if (typeof protocol !== "number") return null;
  return { kind: "hello", protocol, version: typeof version === "string" ? version : "" };
}

function refusalOf({ code, message, fix }: JsonObject): Refusal | null {
  if (typeof code !== "string" || typeof message !== "string") return null;
  return { ok: false, code, message, fix: typeof fix === "string" ? fix : null };
}
