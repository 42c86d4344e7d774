// The result of an instrument: the value, or a denial with a code. Never an exception.
import { DENIAL_CODES, type DenialCode } from "../../core/authority/decision.ts";
import type { Refusal } from "../../core/base/result.ts";
import type { PortFailure } from "../../core/ports/instruments.ts";

/** `version_conflict`: a concurrent write. `quota`: too many keys or bytes. */
export type UseCode = DenialCode | "version_conflict" | "quota";

const USE_CODES: readonly UseCode[] = [...DENIAL_CODES, "version_conflict", "quota"];

/** Null for a text that is none. */
export function useCodeOf(text: unknown): UseCode | null {
  return USE_CODES.find((one) => one === text) ?? null;
}

export interface UseDenial {
  readonly ok: false;
  readonly code: UseCode;
  /** The verb it would have needed; null if it did not get that far. */
  readonly verb: string | null;
  readonly message: string;
  /** If it was logged as a denial: the uncovered request, a hint, and the log entry. */
  readonly need?: string | null;
  readonly hint?: string;
  readonly id?: string;
}

export type UseResult<T> = { readonly ok: true; readonly value: T } | UseDenial;

export function useResult<T>(value: T): UseResult<T> {
  return Object.freeze({ ok: true, value });
}

export function useDenial(code: UseCode, verb: string | null, message: string): UseDenial {
  return Object.freeze({ ok: false, code, verb, message });
}

export function invalid(verb: string | null, message: string): UseDenial {
  return useDenial("invalid_input", verb, message);
}

/** The code of a denial that a request got. */
export function denialCodeOf({ code }: UseDenial): DenialCode {
  return DENIAL_CODES.find((one) => one === code) ?? "not_available";
}

/** An instrument's arguments could not be parsed. */
export function unreadable(verb: string | null, { message, fix }: Refusal): UseDenial {
  return invalid(verb, fix === undefined ? message : `${message} (such as ${fix})`);
}

/** Keeps a port's code if it is one of ours; any other failure is `not_available`. */
export function failed(verb: string | null, { code, message }: Pick<PortFailure, "code" | "message">): UseDenial {
  const known = useCodeOf(code);
  return useDenial(known ?? "not_available", verb, known === null ? `${code}: ${message}` : message);
}
