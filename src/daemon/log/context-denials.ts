// Denials by one call's context: every refused use is a denial of its own in the log, and names its entry.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import type { UseDenial, UseResult } from "../../runtime/context/use-result.ts";
import { denialCodeOf } from "./call-refusals.ts";
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
    this.#count(code, request, id);
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

  #count(code: DenialCode, request: string, id: string): void {
    const key = `${code} ${request}`;
    const known = this.#seen.get(key);
    if (known === undefined && this.#seen.size >= denialsMax) return;
    this.#seen.set(key, { code, request, times: (known?.times ?? 0) + 1, id: known?.id ?? id });
  }
}
