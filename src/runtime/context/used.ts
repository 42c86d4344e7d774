// What a tool gets back from an instrument: the value, or a denial with a code. Never an exception.
import { DENIAL_CODES, type DenialCode } from "../../core/authority/decision.ts";
import type { Refusal } from "../../core/base/result.ts";
import type { PortFailure } from "../../core/ports/instruments.ts";

export interface Denied {
  readonly ok: false;
  readonly code: DenialCode;
  /** The verb it would have needed; null where it did not come to that. */
  readonly verb: string | null;
  readonly message: string;
  /** Where it was written down as a denial: the request that was not covered, what to do, and the entry in the log. */
  readonly need?: string | null;
  readonly hint?: string;
  readonly id?: string;
}

export type Used<T> = { readonly ok: true; readonly value: T } | Denied;

export function used<T>(value: T): Used<T> {
  return Object.freeze({ ok: true, value });
}

export function denied(code: DenialCode, verb: string | null, message: string): Denied {
  return Object.freeze({ ok: false, code, verb, message });
}

export function invalid(verb: string | null, message: string): Denied {
  return denied("invalid_input", verb, message);
}

/** What an instrument was given could not be read. */
export function unread(verb: string | null, { message, fix }: Refusal): Denied {
  return invalid(verb, fix === undefined ? message : `${message} (such as ${fix})`);
}

/** A port's own code where it is one of ours; whatever else went wrong out there is that it is not available. */
export function failed(verb: string | null, { code, message }: Pick<PortFailure, "code" | "message">): Denied {
  const known = DENIAL_CODES.find((one) => one === code);
  return denied(known ?? "not_available", verb, known === undefined ? `${code}: ${message}` : message);
}
