// Reads fields of a JSON object that came from outside: each by name, with its type and length limit.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "./json.ts";

export const textCharactersMax = 262_144;

export function textIn(object: JsonObject, key: string, charactersMax: number = textCharactersMax): string | null {
  const value = member(object, key);
  return typeof value === "string" && value.length <= charactersMax ? value : null;
}

/** Undefined if present but not a string; null if absent. */
export function optionalText(object: JsonObject, key: string, charactersMax?: number): string | null | undefined {
  const value = member(object, key);
  if (value === undefined || value === null) return null;
  return textIn(object, key, charactersMax) ?? undefined;
}

export function numberIn(object: JsonObject, key: string, least: number, most: number): number | null {
  const value = member(object, key);
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most ? value : null;
}

/** The default if absent; null if present but invalid. */
export function numberOr(
  object: JsonObject,
  key: string,
  otherwise: number,
  least: number,
  most: number,
): number | null {
  return member(object, key) === undefined || member(object, key) === null
    ? otherwise
    : numberIn(object, key, least, most);
}

export function textsIn(object: JsonObject, key: string, countMax: number): readonly string[] | null {
  const value = member(object, key);
  if (!isJsonList(value) || value.length > countMax) return null;
  return value.every((one): one is string => typeof one === "string" && one.length <= textCharactersMax) ? value : null;
}

export function flagIn(object: JsonObject, key: string): boolean {
  return member(object, key) === true;
}

export function objectIn(object: JsonObject, key: string): JsonObject | null {
  const value: Json | undefined = member(object, key);
  return isJsonObject(value) ? value : null;
}
