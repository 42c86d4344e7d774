// One row of a vector file, and typed access to its columns.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../src/core/base/json.ts";

export type Row = JsonObject;

export interface VectorFile {
  /** Without `.json`. */
  readonly name: string;
  /** Everything beside `vectors`: base tables, layouts. */
  readonly header: JsonObject;
  readonly rows: readonly Row[];
}

/** A row that does not have the shape its file promises. Reported as a failure of that case, with the missing column. */
export class BadRow extends Error {}

export function has(row: Row, key: string): boolean {
  return Object.hasOwn(row, key);
}

export function textAt(row: Row, key: string): string {
  const value = member(row, key);
  if (typeof value !== "string") throw new BadRow(`\`${key}\` is not text`);
  return value;
}

export function textOr<T>(row: Row, key: string, otherwise: T): string | T {
  const value = member(row, key);
  return typeof value === "string" ? value : otherwise;
}

export function flagAt(row: Row, key: string): boolean {
  const value = member(row, key);
  if (typeof value !== "boolean") throw new BadRow(`\`${key}\` is not true or false`);
  return value;
}

export function numberAt(row: Row, key: string): number {
  const value = member(row, key);
  if (typeof value !== "number") throw new BadRow(`\`${key}\` is not a number`);
  return value;
}

export function listAt(row: Row, key: string): readonly Json[] {
  const value = member(row, key);
  if (!isJsonList(value)) throw new BadRow(`\`${key}\` is not a list`);
  return value;
}

export function textsAt(row: Row, key: string): readonly string[] {
  return listAt(row, key).map((item) => {
    if (typeof item !== "string") throw new BadRow(`\`${key}\` holds something that is not text`);
    return item;
  });
}

export function mapAt(row: Row, key: string): JsonObject {
  const value = member(row, key);
  if (!isJsonObject(value)) throw new BadRow(`\`${key}\` is not a map`);
  return value;
}

export function mapOr(row: Row, key: string): JsonObject {
  const value = member(row, key);
  return isJsonObject(value) ? value : {};
}

/** A list of text that may be missing. */
export function textsOr(row: Row, key: string, otherwise: readonly string[]): readonly string[] {
  const value = member(row, key);
  return isJsonList(value) ? value.filter((item) => typeof item === "string") : otherwise;
}

export function textsOrNull(row: Row, key: string): readonly string[] | null {
  return isJsonList(member(row, key)) ? textsOr(row, key, []) : null;
}
