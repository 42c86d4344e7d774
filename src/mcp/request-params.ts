// Checks and repairs of request parameters before the SDK sees them: it drops some malformed messages without a response,
// and answers a malformed tool call with a protocol error, which models cannot read.
import { isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import { jsonDepthMax } from "../core/base/limits.ts";
import { errorResponse, isRequestId, objectAt, type RequestId } from "./json-rpc.ts";

const UNSUPPORTED_VERSION = -32_022;
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const TASK_KEY = "io.modelcontextprotocol/related-task";
/** Versions that every request names itself; older ones are negotiated by `initialize`. */
const SUPPORTED_VERSIONS: readonly string[] = ["2026-07-28"];
/** The newest version that `initialize` negotiates. */
const negotiatedVersion = "2025-11-25";
const requestedCharactersMax = 64;

/** What is wrong with `_meta`, or null. The SDK drops a message with malformed `_meta`. */
export function metaProblem(params: JsonObject): string | null {
  const meta = member(params, "_meta");
  if (meta === undefined) return null;
  if (!isJsonObject(meta)) return "`_meta` must be an object";
  const token = member(meta, "progressToken");
  if (token !== undefined && !isRequestId(token)) return "`progressToken` must be a string or an integer";
  const task = member(meta, TASK_KEY);
  if (task !== undefined && typeof member(objectAt(meta, TASK_KEY), "taskId") !== "string")
    return `\`${TASK_KEY}\` must name a task`;
  return null;
}

/**
 * The error response for a request that names an unsupported version, or null. The SDK checks only the first request of a
 * connection and would serve a later one in another version.
 */
export function unsupportedVersionResponse(params: JsonObject, id: RequestId): JsonObject | null {
  const requested = member(objectAt(params, "_meta"), VERSION_KEY);
  if (typeof requested !== "string" || SUPPORTED_VERSIONS.includes(requested)) return null;
  const data = { supported: SUPPORTED_VERSIONS, requested: requested.slice(0, requestedCharactersMax) };
  return errorResponse(id, UNSUPPORTED_VERSION, "unsupported protocol version", data);
}

/** `initialize` with defaults for missing or malformed members. */
export function initializeParams(params: JsonObject): JsonObject {
  const client = objectAt(params, "clientInfo");
  const version = member(params, "protocolVersion");
  const text = (key: string, otherwise: string): string => {
    const given = member(client, key);
    return typeof given === "string" ? given : otherwise;
  };
  return {
    ...params,
    protocolVersion: typeof version === "string" ? version : negotiatedVersion,
    capabilities: objectAt(params, "capabilities"),
    clientInfo: { ...client, name: text("name", "unknown"), version: text("version", "0") },
  };
}

export interface CallProblem {
  readonly tool: string;
  readonly message: string;
}

export interface CallParams {
  readonly params: JsonObject;
  readonly problem: CallProblem | null;
}

/**
 * A call that the SDK accepts. INVARIANT: a malformed call reaches the handler with an empty name and no arguments, and the
 * handler refuses an empty name.
 */
export function callParams(params: JsonObject): CallParams {
  const [name, input] = [member(params, "name"), member(params, "arguments")];
  const message = callProblem(name, input);
  if (message === null) return { params, problem: null };
  const tool = typeof name === "string" && name !== "" ? name : "the call";
  return { params: { ...params, name: "", arguments: {} }, problem: { tool, message } };
}

function callProblem(name: Json | undefined, input: Json | undefined): string | null {
  if (typeof name !== "string" || name === "") return "`name` must be the name of a tool";
  if (input === undefined) return null;
  if (!isJsonObject(input)) return "`arguments` must be an object";
  return isBounded(input) ? null : "`arguments` are nested too deeply, or contain a number that is too large";
}

/** `JSON.parse` accepts any depth, and numbers beyond the range of a double as infinity. */
export function isBounded(value: Json, depth = 0): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth >= jsonDepthMax) return false;
  for (const key in value) if (!isBounded((value as JsonObject)[key] as Json, depth + 1)) return false;
  return true;
}
