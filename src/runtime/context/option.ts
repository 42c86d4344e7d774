// Parses a tool's options for an instrument: each property is read once, and bounded.

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
