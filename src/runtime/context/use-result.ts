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
  /** What a person can do about it. */
  readonly fix?: string | null;
  /** If it was logged as a denial: the uncovered request, a hint, and the log entry. */
  readonly need?: string | null;
  readonly hint?: string;
  readonly id?: string;
}

export type UseResult<T> = { readonly ok: true; readonly value: T } | UseDenial;

export function useResult<T>(value: T): UseResult<T> {
  return Object.freeze({ ok: true, value });
}

export function useDenial(code: UseCode, verb: string | null, message: string, fix?: string | null): UseDenial {
  return Object.freeze(
    fix === undefined ? { ok: false, code, verb, message } : { ok: false, code, verb, message, fix },
  );
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
export function useFailure(verb: string | null, { code, message }: Pick<PortFailure, "code" | "message">): UseDenial {
  const known = useCodeOf(code);
  return useDenial(known ?? "not_available", verb, known === null ? `${code}: ${message}` : message);
}

/** A plain copy of the named properties; null for a value that is not an object, or has other properties. */
export function optionsOf(value: unknown, names: readonly string[]): Record<string, unknown> | null {
  const copy = Object.create(null) as Record<string, unknown>;
  if (value === undefined) return copy;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key !== "string" || !names.includes(key)) return null;
    copy[key] = (value as Record<string, unknown>)[key];
  }
  return copy;
}

/** A whole number from one (or `least`) to the limit; the default if absent. Null: invalid. */
export function countOf(value: unknown, usual: number, most: number, least = 1): number | null {
  if (value === undefined) return usual;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most ? value : null;
}

/** A list's length is read once, and it contains only strings. */
export function textsOf(value: unknown, most: number, charactersMax: number): readonly string[] | null {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > most) return null;
  const copy = Array.from({ length: value.length }, (_, at): unknown => value[at]);
  return copy.every((one): one is string => typeof one === "string" && one.length <= charactersMax) ? copy : null;
}
