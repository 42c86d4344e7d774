// Reads what a tool hands to an instrument beside the words that are decided on: each property once, each within bounds.

/** A plain copy of the named properties; null for what is no object, or has other properties. */
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

/** A whole number from one (or `least`) to the bound; the usual one where nothing is said. Null: not one of these. */
export function countOf(value: unknown, usual: number, most: number, least = 1): number | null {
  if (value === undefined) return usual;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most ? value : null;
}

/** Lists are read by their length once, and hold nothing but text. */
export function textsOf(value: unknown, most: number, charactersMax: number): readonly string[] | null {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > most) return null;
  const copy = Array.from({ length: value.length }, (_, at): unknown => value[at]);
  return copy.every((one): one is string => typeof one === "string" && one.length <= charactersMax) ? copy : null;
}
