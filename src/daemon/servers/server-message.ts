// Messages of servers and requests to them: what can be read of a line, what a request says about us, and how one can end.

import { copyJson, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { JsonMeter } from "../../core/base/json-meter.ts";
import { jsonDepthMax } from "../../core/base/limits.ts";
import type { CodedFailure, Result } from "../../core/base/result.ts";
import { VERSION } from "../../core/base/version.ts";
import type { CallEvents, ServerOffers } from "./call-events.ts";
import { serverLineBytesMax } from "./server-connection.ts";

export type UpstreamResult<T> = Result<
  T,
  CodedFailure<"execution_failed" | "not_available" | "stopped" | "sign_in_required">
>;

export type UpstreamFailure = Extract<UpstreamResult<unknown>, { readonly ok: false }>;

export function failedCall(message: string): UpstreamResult<never> {
  return { ok: false, code: "execution_failed", message };
}

export function unavailable(message: string): UpstreamResult<never> {
  return { ok: false, code: "not_available", message };
}

export function needsSignIn({ code }: UpstreamFailure): boolean {
  return code === "sign_in_required";
}

export const NEEDS_SIGN_IN = "it needs a sign-in";

export const STOPPED: UpstreamResult<never> = { ok: false, code: "stopped", message: "the call was cancelled" };

/** Of the older era, the newest first. */
export const PROTOCOLS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/** The era without sessions: every request says who asks. */
export const STATELESS = "2026-07-28";
export const META = "io.modelcontextprotocol/";
export const CLIENT: JsonObject = { name: "ambit", version: VERSION };

/** A longer message is measured before it is parsed: many values take seconds. */
const valuesMax = 262_144;

export type ServerMessage =
  | { readonly kind: "message"; readonly message: JsonObject }
  | { readonly kind: "blank" }
  /** `isFatal`: whatever walks through its values later would run out of stack. */
  | { readonly kind: "fault"; readonly why: string; readonly isFatal: boolean };

/** `text` is null for a line over the limit. */
export function readMessage(text: string | null): ServerMessage {
  const fault = (why: string, isFatal = false): ServerMessage => ({ kind: "fault", why, isFatal });
  if (text === null) return fault(`a line has more than ${serverLineBytesMax} bytes`);
  if (text.trim() === "") return { kind: "blank" };
  if (text.length > valuesMax && !new JsonMeter(valuesMax).take(Buffer.from(text)))
    return fault(`a message has more than ${valuesMax} values`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fault("a line is not a valid message");
  }
  const message = copyJson(value);
  if (message === undefined) return fault(`a message is nested more than ${jsonDepthMax} deep`, true);
  if (!isJsonObject(message) || member(message, "jsonrpc") !== "2.0") return fault("a line is not a valid message");
  return { kind: "message", message };
}

/** The newer era: the server wants something from the user or the model first. */
export function isUnfinished(result: Json | undefined): result is JsonObject {
  const type = isJsonObject(result) ? member(result, "resultType") : undefined;
  return type !== undefined && type !== "complete";
}

/** What a server declared at its start. */
export function capabilitiesIn(initialized: JsonObject): JsonObject | null {
  const capabilities = member(initialized, "capabilities");
  return isJsonObject(capabilities) ? capabilities : null;
}

/** What is declared to a server. */
export function capabilitiesFor({ roots, asks }: ServerOffers): JsonObject {
  return {
    ...(roots === null ? {} : { roots: {} }),
    ...(asks.has("elicitation") ? { elicitation: { form: {} } } : {}),
    ...(asks.has("sampling") ? { sampling: {} } : {}),
  };
}

/** The parameters of a request, with what it says about us. */
export function sentParams(
  params: JsonObject,
  id: number,
  events: CallEvents | null,
  stateless: ServerOffers | null,
): JsonObject {
  const progress = events?.isProgressWanted === true ? { progressToken: id } : {};
  if (stateless === null) return events?.isProgressWanted === true ? { ...params, _meta: progress } : params;
  const level = events?.logLevel ?? null;
  return {
    ...params,
    _meta: {
      ...progress,
      [`${META}protocolVersion`]: STATELESS,
      [`${META}clientInfo`]: CLIENT,
      [`${META}clientCapabilities`]: capabilitiesFor(stateless),
      ...(level === null ? {} : { [`${META}logLevel`]: level }),
    },
  };
}

export const UNFINISHED =
  "the server asked for input for a request that allows none; only tool calls and reads of resources and prompts may ask";
