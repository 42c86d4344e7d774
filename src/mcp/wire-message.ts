// JSON-RPC as it stands on a line, and the errors that are answered without asking anybody.
import { type Json, type JsonObject, member } from "../authority/json.ts";

export type RequestId = string | number;

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const INVALID_PARAMS = -32_602;

export function isRequestId(value: Json | undefined): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
}

export function errorAnswer(id: RequestId | null, code: number, message: string, data?: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, error: data === undefined ? { code, message } : { code, message, data } };
}

export function resultAnswer(id: RequestId, result: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, result };
}

/** The id of a message that is not read, as far as its edges tell: members there are the message's own. */
export function idAtEdges(head: string, tail: string): RequestId | null {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]{0,128}")\s*,/.exec(head) ??
    /[,\s]"id"\s*:\s*(\d{1,15}|"[^"\\]{0,128}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return found?.[1] === undefined ? null : (JSON.parse(found[1]) as RequestId);
}

/** An own member that is an object, or an empty one. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = member(object, key);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
