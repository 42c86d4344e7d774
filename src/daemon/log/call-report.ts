// What happened during a call: its denials, each with a log entry of its own, and what enforced each axis.
import { DENIAL_CODES, type DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { Strength } from "../../core/ports/enforcement.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";
import type { UseDenial, UseResult } from "../../runtime/context/use-result.ts";
import type { CallPorts } from "../calls/call-ports.ts";
import type { ExecutionResult } from "../tools/daemon-tool.ts";
import { hintOf } from "./denials.ts";

/** Distinct denials listed in one call's outcome; all of them are logged. */
const denialsMax = 64;
/** Refused requests whose result is not yet returned. */
const expectedMax = 256;

interface ExpectedDenial {
  readonly code: DenialCode;
  readonly verb: string | null;
  readonly request: string;
}

export class ContextDenials {
  /** Logs a denial; returns the id of its entry. */
  readonly #write: (denial: RunDenial, reason: string | null, target: string | null) => string;
  /** The last refused path of the running use. */
  #path: string | null = null;
  readonly #expected: ExpectedDenial[] = [];
  readonly #seen = new Map<string, RunDenial>();

  constructor(write: (denial: RunDenial, reason: string | null, target: string | null) => string) {
    this.#write = write;
  }

  /** A request was refused; the result that says so follows. */
  expect(request: Request | null, code: DenialCode): void {
    if (this.#expected.length >= expectedMax) this.#expected.shift();
    const text = request === null ? "" : requestText(request);
    this.#expected.push({ code, verb: request?.verb.verb ?? null, request: text });
  }

  /** A path was refused during a use: the one that it named, or one that a link or a missing folder led to. */
  refusedPath(request: Request): void {
    this.#path = requestText(request);
  }

  /** The same result; a refusal gets its request, a hint, and the id of its entry. */
  answer<T>(answer: UseResult<T>): UseResult<T> {
    return answer.ok ? answer : this.denied(answer);
  }

  denied(answer: UseDenial): UseDenial {
    const code = denialCodeOf(answer.code);
    if (code === null) return answer;
    const { verb, message } = answer;
    const request = this.#requestOf(code, verb);
    // INVARIANT: a symlink's target goes only to the log. The caller sees the path it asked for.
    const target = request.startsWith("fs.") && this.#path !== request ? this.#path : null;
    this.#path = null;
    const id = this.#write({ code, request, times: 1 }, message, target);
    this.count({ code, request, times: 1, id });
    return { ...answer, need: request === "" ? null : request, hint: hintOf(code), id };
  }

  /** Denials so far, for the outcome of the call. */
  denials(): readonly RunDenial[] {
    return [...this.#seen.values()];
  }

  /** The refused request, if known; else only the verb. */
  #requestOf(code: DenialCode, verb: string | null): string {
    const at = this.#expected.findIndex((one) => one.code === code && one.verb === verb);
    const [found] = at < 0 ? [] : this.#expected.splice(at, 1);
    return found?.request ?? verb ?? "";
  }

  /** A denial that is logged already, for the outcome of the call. */
  count({ code, request, times, id }: RunDenial): void {
    const key = `${code} ${request}`;
    const known = this.#seen.get(key);
    if (known === undefined && this.#seen.size >= denialsMax) return;
    const first = known?.id ?? id;
    this.#seen.set(key, {
      code,
      request,
      times: (known?.times ?? 0) + times,
      ...(first === undefined ? {} : { id: first }),
    });
  }
}

/** Codes for external failures or invalid arguments, not for missing grants. */
const FAILURES: ReadonlySet<string> = new Set(["not_available", "not_found", "invalid_input", "execution_failed"]);

/** Null if the code stands for a failure, not for a denial. */
export function denialCodeOf(code: string): DenialCode | null {
  return FAILURES.has(code) ? null : (DENIAL_CODES.find((one) => one === code) ?? null);
}

export type CallDenial = NonNullable<Extract<ExecutionResult, { readonly ok: false }>["denied"]>;

/** The denial of a call that was not executed; null if it failed for another reason. */
export function refusedIn(execution: ExecutionResult): CallDenial | null {
  if (execution.ok) return null;
  if (execution.denied !== undefined) return execution.denied;
  const code = denialCodeOf(execution.code);
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

const STRENGTHS: readonly string[] = ["none", "checked", "broker", "kernel"] satisfies readonly Strength[];

/** By axis. INVARIANT: of several reports about one axis the weakest counts. */
export class CallEnforcement {
  readonly #axes = new Map<string, string>();

  add(axis: string, strength: string): void {
    const known = this.#axes.get(axis);
    if (known === undefined || STRENGTHS.indexOf(strength) < STRENGTHS.indexOf(known)) this.#axes.set(axis, strength);
  }

  list(): Outcome["enforcement"] {
    return [...this.#axes].map(([axis, strength]) => ({ axis, strength }));
  }
}

/** Every axis of the requests was checked by the gate; what executed the call may have enforced it more strongly. */
export function enforcementOf(requests: readonly Request[], reported: Outcome["enforcement"]): Outcome["enforcement"] {
  const all = new CallEnforcement();
  for (const { axis, strength } of reported) all.add(axis, strength);
  const known = new Set(all.list().map(({ axis }) => axis));
  for (const { verb } of requests) for (const { name } of verb.axes) if (!known.has(name)) all.add(name, "checked");
  return all.list();
}
