// In the newer era every request names the protocol's version. The library looks at the first one of a connection only, so
// that a later one which names another would be answered as if it had not.
import { type Json, type JsonObject, member } from "../authority/json.ts";
import { errorAnswer, objectAt, type RequestId } from "./wire-message.ts";

const UNSUPPORTED_VERSION = -32_022;
export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
/** All of them that are not agreed on by `initialize`. */
const SPOKEN: readonly string[] = ["2026-07-28"];
/** Nobody's version is longer. */
const requestedCharactersMax = 64;

export function isSpoken(version: Json | undefined): boolean {
  return typeof version === "string" && SPOKEN.includes(version);
}

/** The answer to a request in a version that is not spoken here; null for every other. */
export function otherVersionAnswer(params: JsonObject, id: RequestId): JsonObject | null {
  const requested = member(objectAt(params, "_meta"), VERSION_KEY);
  if (typeof requested !== "string" || isSpoken(requested)) return null;
  const data = { supported: SPOKEN, requested: requested.slice(0, requestedCharactersMax) };
  return errorAnswer(id, UNSUPPORTED_VERSION, "this version of the protocol is not spoken here", data);
}
