// The entries of one field of caveats: those that are understood, and a warning for each of the others.
import type { Span } from "../../authority/grant.ts";
import type { Result } from "../../base/result.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { warnRefused } from "../refusal.ts";
import type { Field } from "./caveats-fields.ts";

export interface ValueWithSpan<T> {
  readonly value: T;
  readonly span: Span;
}

/** For everything, the one value that stands for it. An entry that is not understood matches nothing. */
export function entriesOf<T>(
  field: Field,
  diagnostics: Diagnostics,
  all: T,
  read: (text: string) => Result<T>,
): readonly ValueWithSpan<T>[] {
  if (field.only === null) return [{ value: all, span: field.span }];
  return field.only.flatMap(({ text, span }) => {
    const result = read(text);
    if (result.ok) return [{ value: result.value, span }];
    warnRefused(result, span, diagnostics);
    return [];
  });
}
