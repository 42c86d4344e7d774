// Parsing a corpus file: JSON of a known shape, with every field checked.

export type Data = Readonly<Record<string, unknown>>;

/** A file that does not have the shape its name promises. Ends the run: a partial corpus proves nothing. */
export class ShapeError extends Error {}

export function data(value: unknown, what: string): Data {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new ShapeError(`${what} is not an object`);
  return value as Data;
}

/** The list at a key; a missing list is empty, since not every file has every list. */
export function list(from: Data, key: string): readonly Data[] {
  const value = from[key];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ShapeError(`"${key}" is not a list`);
  return value.map((each, at) => data(each, `"${key}"[${at}]`));
}

/** A list that the file must have. */
export function cases(from: Data, key = "cases"): readonly Data[] {
  if (from[key] === undefined) throw new ShapeError(`there is no "${key}"`);
  return list(from, key);
}

export function text(from: Data, key: string): string | null {
  const value = from[key];
  return typeof value === "string" ? value : null;
}

export function flag(from: Data, key: string): boolean | null {
  const value = from[key];
  return typeof value === "boolean" ? value : null;
}

/** One text or a list of them. */
export function texts(value: unknown): readonly string[] | null {
  if (typeof value === "string") return [value];
  if (!Array.isArray(value) || !value.every((each) => typeof each === "string")) return null;
  return value as readonly string[];
}

export function nameOf(from: Data, at: number): string {
  return text(from, "id") ?? `#${at}`;
}

/** Groups by a key, in the order in which groups first appear. */
export function groupBy<T>(all: readonly T[], key: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(key(one));
    if (group === undefined) groups.set(key(one), [one]);
    else group.push(one);
  }
  return groups;
}
