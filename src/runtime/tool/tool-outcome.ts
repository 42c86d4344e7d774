// A tool's return value, as plain data. An instrument's result may be returned as it is: a refusal becomes the call's
// refusal, and a response its status and text.

import { copyJson, type Json } from "../../core/base/json.ts";
import type { CodedFailure, Result } from "../../core/base/result.ts";
import type { FetchedResponse } from "../context/response.ts";
import { type UseCode, type UseDenial, useCodeOf } from "../context/use-result.ts";

export type ToolOutcome = Result<Json, CodedFailure<UseCode | "execution_failed">>;

export async function toolOutcome(value: unknown): Promise<ToolOutcome> {
  if (isDenied(value)) {
    const { code, message } = value;
    return { ok: false, code, message: String(message) };
  }
  const inner = isUsed(value) ? value.value : value;
  const copy = copyJson(isResponse(inner) ? await plainResponse(inner) : (inner ?? null));
  if (copy === undefined) return { ok: false, code: "execution_failed", message: "its result is not plain data" };
  return { ok: true, value: copy };
}

function isDenied(value: unknown): value is UseDenial {
  return isObject(value) && value["ok"] === false && useCodeOf(value["code"]) !== null;
}

function isUsed(value: unknown): value is { readonly value: unknown } {
  return isObject(value) && value["ok"] === true && "value" in value && Object.keys(value).length === 2;
}

function isResponse(value: unknown): value is FetchedResponse {
  return isObject(value) && typeof value["status"] === "number" && typeof value["text"] === "function";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

async function plainResponse(response: FetchedResponse): Promise<object> {
  const { status, url, headers } = response;
  return { status, url, contentType: headers.get("content-type"), text: await response.text() };
}
