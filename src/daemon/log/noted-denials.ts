// What the context of one call refused: every answer that is a refusal is a denial of its own in the log, and names its entry.
import { DENIAL_CODES, type DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { isJsonObject, type Json } from "../../core/base/json.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import { isRefusal } from "./call-refusals.ts";
import { hintOf } from "./denials.ts";

/** Different denials that the outcome of one call lists; all of them are written. */
const denialsMax = 64;
/** Requests that were refused and whose answer is on its way. */
const expectedMax = 256;

interface Expected {
  readonly code: DenialCode;
  readonly verb: string | null;
  readonly request: string;
}

export class NotedDenials {
  /** Writes it down; the id of its entry. */
  readonly #write: (denial: RunDenial, reason: string | null) => string;
  readonly #expected: Expected[] = [];
  readonly #seen = new Map<string, RunDenial>();

  constructor(write: (denial: RunDenial, reason: string | null) => string) {
    this.#write = write;
  }

  /** A request was refused; the answer that says so follows. */
  expect(request: Request | null, code: DenialCode): void {
    if (this.#expected.length >= expectedMax) this.#expected.shift();
    const text = request === null ? "" : requestText(request);
    this.#expected.push({ code, verb: request?.verb.verb ?? null, request: text });
  }

  /** The same answer; a refusal has what it needed, what to do, and the id of its entry. */
  answer(answer: Json): Json {
    if (!isJsonObject(answer) || answer["ok"] !== false) return answer;
    const code = DENIAL_CODES.find((one) => one === answer["code"]);
    if (code === undefined || !isRefusal(code)) return answer;
    const { verb = null, message = null } = answer;
    const request = this.#requestOf(code, typeof verb === "string" ? verb : null);
    const id = this.#write({ code, request, times: 1 }, typeof message === "string" ? message : null);
    this.#count(code, request, id);
    return { ...answer, need: request === "" ? null : request, hint: hintOf(code), id };
  }

  /** What was refused so far, for the outcome of the call. */
  denials(): readonly RunDenial[] {
    return [...this.#seen.values()];
  }

  /** What was refused, as far as anybody said; else the verb alone. */
  #requestOf(code: DenialCode, verb: string | null): string {
    const at = this.#expected.findIndex((one) => one.code === code && one.verb === verb);
    const [found] = at < 0 ? [] : this.#expected.splice(at, 1);
    return found?.request ?? verb ?? "";
  }

  #count(code: DenialCode, request: string, id: string): void {
    const key = `${code} ${request}`;
    const known = this.#seen.get(key);
    if (known === undefined && this.#seen.size >= denialsMax) return;
    this.#seen.set(key, { code, request, times: (known?.times ?? 0) + 1, id: known?.id ?? id });
  }
}
