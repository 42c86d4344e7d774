// A call as it stands on a line. One that names no tool, or whose arguments are none, is still a call: its result says so.
import { isJsonObject, type Json, type JsonObject, member } from "../authority/json.ts";
import { jsonDepthMax } from "../authority/limits.ts";
import type { Era } from "./spoken-era.ts";
import type { Wanted } from "./wanted.ts";
import { errorAnswer, INVALID_PARAMS, type RequestId } from "./wire-message.ts";

export interface CallAsked {
  readonly id: RequestId;
  readonly era: Era;
  /** Empty where it names none. */
  readonly tool: string;
  readonly input: JsonObject;
  /** What is wrong with it, for a result that says so; null for a call that is whole. */
  readonly flaw: string | null;
  /** The answer instead of a result, where something goes along that is not as the protocol has it. */
  readonly refused: JsonObject | null;
  readonly wanted: Wanted;
}

const NO_INPUT: JsonObject = {};

export function readCall(id: RequestId, params: JsonObject, era: Era, wanted: Wanted): CallAsked {
  const refused = refusedParams(id, params, era);
  const name = member(params, "name");
  const input = member(params, "arguments");
  const tool = typeof name === "string" ? name : "";
  if (tool === "") return flawed("`name` is the name of a tool");
  if (input === undefined) return { id, era, tool, input: NO_INPUT, flaw: null, refused, wanted };
  if (!isJsonObject(input)) return flawed("`arguments` is one object");
  if (!isReadable(input, 0)) return flawed("the arguments are too deep, or hold a number that is too large");
  return { id, era, tool, input, flaw: null, refused, wanted };

  function flawed(flaw: string): CallAsked {
    return { id, era, tool, input: NO_INPUT, flaw, refused, wanted };
  }
}

function refusedParams(id: RequestId, params: JsonObject, era: Era): JsonObject | null {
  const task = era === "legacy" ? member(params, "task") : undefined;
  if (task !== undefined && !isTask(task)) return errorAnswer(id, INVALID_PARAMS, "`task` is one object");
  const state = member(params, "requestState");
  if (state === undefined || typeof state === "string") return null;
  return errorAnswer(id, INVALID_PARAMS, "Invalid or expired requestState", { reason: "invalid_request_state" });
}

function isTask(task: Json): boolean {
  if (!isJsonObject(task)) return false;
  const milliseconds = member(task, "ttl");
  return milliseconds === undefined || typeof milliseconds === "number";
}

/** What came from a line is plain data already: only what cannot be written again is looked for. */
function isReadable(value: Json, depth: number): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth >= jsonDepthMax) return false;
  for (const key in value) if (!isReadable((value as JsonObject)[key] as Json, depth + 1)) return false;
  return true;
}
