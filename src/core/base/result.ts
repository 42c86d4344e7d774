// Expected failures are values. A Refusal says what is wrong with a text, and where in it.

export interface Refusal {
  readonly ok: false;
  /** Stable name of what is wrong, such as "bad_pattern". */
  readonly code: RefusalCode;
  readonly message: string;
  /** What to write instead, when that is known. */
  readonly fix?: string;
}

export type RefusalCode = "bad_pattern" | "bad_value" | "too_long" | "escapes_root" | "not_absolute";

export type Result<T> = { readonly ok: true; readonly value: T } | Refusal;

export function done<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function refuse(code: RefusalCode, message: string, fix?: string): Refusal {
  return fix === undefined ? { ok: false, code, message } : { ok: false, code, message, fix };
}
