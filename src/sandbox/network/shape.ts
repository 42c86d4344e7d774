// Parses values from another process: exactly the expected keys, each of its type, or null.

export type Check<T> = (value: unknown) => value is T;

/** Exactly these keys and no others. */
export function isShape<T extends object>(
  value: unknown,
  checks: { readonly [Key in keyof T]: Check<T[Key]> },
): value is T {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(checks);
  if (Object.keys(value).length !== keys.length) return false;
  return keys.every(
    (key) => Object.hasOwn(value, key) && checks[key as keyof T]((value as Readonly<Record<string, unknown>>)[key]),
  );
}

export function exactly<T extends string>(...words: readonly T[]): Check<T> {
  return (value): value is T => typeof value === "string" && (words as readonly string[]).includes(value);
}

export function text(lengthMax: number, pattern: RegExp | null = null): Check<string> {
  return (value): value is string =>
    typeof value === "string" && value.length <= lengthMax && (pattern === null || pattern.test(value));
}

export function whole(low: number, high: number): Check<number> {
  return (value): value is number => Number.isInteger(value) && (value as number) >= low && (value as number) <= high;
}

export const flag: Check<boolean> = (value): value is boolean => typeof value === "boolean";

export function list<T>(check: Check<T>, lengthMax: number): Check<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.length <= lengthMax && value.every(check);
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (value): value is T | null => value === null || check(value);
}
