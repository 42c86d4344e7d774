// JSON-RPC messages: ids, error codes, and responses that need no handler.
import { isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";

export type RequestId = string | number;

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const INVALID_PARAMS = -32_602;

export function isRequestId(value: Json | undefined): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
}

export function errorResponse(id: RequestId | null, code: number, message: string, data?: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, error: data === undefined ? { code, message } : { code, message, data } };
}

export function resultResponse(id: RequestId, result: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, result };
}

/** The id of a message that was too long to read, if its first or last bytes show it as a top-level member. */
export function idAtEdges(head: string, tail: string): RequestId | null {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]{0,128}")\s*,/.exec(head) ??
    /[,\s]"id"\s*:\s*(\d{1,15}|"[^"\\]{0,128}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return found?.[1] === undefined ? null : (JSON.parse(found[1]) as RequestId);
}

/** An own member that is an object, or an empty object. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = member(object, key);
  return isJsonObject(value) ? value : {};
}
