// Expected failures are values. A Failure says why; a Refusal also says what is wrong with a text.

/** Why something was not done. */
export interface Failure {
  readonly ok: false;
  readonly message: string;
}

/** With a stable code that programs can compare. */
export interface CodedFailure<Code extends string> extends Failure {
  readonly code: Code;
}

/** With what a person can do about it, where that is known. */
export interface FixableFailure extends Failure {
  readonly fix: string | null;
}

/** What is wrong with a text, such as "bad_pattern". */
export interface Refusal extends CodedFailure<RefusalCode> {
  /** What to write instead, when that is known. */
  readonly fix?: string;
}

export type RefusalCode = "bad_pattern" | "bad_value" | "too_long" | "escapes_root" | "not_absolute";

export type Result<T, F extends { readonly ok: false } = Refusal> = { readonly ok: true; readonly value: T } | F;

export function done<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function refuse(code: RefusalCode, message: string, fix?: string): Refusal {
  return fix === undefined ? { ok: false, code, message } : { ok: false, code, message, fix };
}
