// Denials during a call: which results are denials, their log entries, and how they are reported.
import { DENIAL_CODES, type DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import type { CallPorts } from "../calls/call-ports.ts";
import type { ExecutionResult } from "../tools/owner-tool.ts";
import { hintOf } from "./denials.ts";

/** Codes for external failures or invalid arguments, not for missing grants. */
const FAILURES: ReadonlySet<string> = new Set(["not_available", "not_found", "invalid_input", "execution_failed"]);

/** Null if the code stands for a failure, not for a denial. */
export function denialCodeOf(code: string): DenialCode | null {
  return FAILURES.has(code) ? null : (DENIAL_CODES.find((one) => one === code) ?? null);
}

export type CallDenial = NonNullable<Extract<ExecutionResult, { readonly ok: false }>["denied"]>;

/** The denial of a call that was not executed; null if it failed for another reason. */
export function refusedIn(carried: ExecutionResult): CallDenial | null {
  if (carried.ok) return null;
  if (carried.denied !== undefined) return carried.denied;
  const code = denialCodeOf(carried.code);
  return code === null ? null : { code, request: null };
}

/** A denial during a call, as the caller sees it. */
export function shownDenial(denial: RunDenial): JsonObject {
  const { code, request, times, id } = denial;
  const need = request === "" ? null : request;
  return { code, request, times, need, hint: hintOf(code), id: id ?? null };
}

/** The same result, with entry ids on the denials it lists. */
export function withDenials(value: Json, denials: readonly RunDenial[]): Json {
  if (denials.length === 0 || !isJsonObject(value) || !isJsonList(value["denials"])) return value;
  return { ...value, denials: denials.map(shownDenial) };
}

/** The same result, with an own log entry for each denial that has none. */
export function withEntries(
  { tool, ports }: { readonly tool: string; readonly ports: Pick<CallPorts, "refused"> },
  receipt: string,
  denials: readonly RunDenial[],
  reason: string | null = null,
  target: Request | null | undefined = null,
): readonly RunDenial[] {
  const behind = target === null || target === undefined ? null : requestText(target);
  return denials.map((denial) =>
    denial.id === undefined
      ? { ...denial, id: ports.refused({ receipt, tool, denial, reason, target: behind }) }
      : denial,
  );
}

export function denialIn({ code, request }: CallDenial): RunDenial {
  return { code, request: request === null ? "" : requestText(request), times: 1 };
}
