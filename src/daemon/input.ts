// Parses request fields: each by name, with its type and length limit.

import { builtinName, parseName } from "../core/authority/axes/name.ts";
import { verbEntry } from "../core/authority/catalog.ts";
import type { Request } from "../core/authority/request.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import { done, type Result, refuse } from "../core/base/result.ts";
import { withAliases } from "../tools/shell/argument-aliases.ts";

export const textCharactersMax = 262_144;

export function textIn(object: JsonObject, key: string, charactersMax: number = textCharactersMax): string | null {
  const value = member(object, key);
  return typeof value === "string" && value.length <= charactersMax ? value : null;
}

/** The tool and the arguments of a call; a built-in tool also by its dotted name, and `shell` with others' arguments. */
export function callIn(object: JsonObject): { readonly tool: string; readonly input: JsonObject } | null {
  const name = textIn(object, "tool", 256);
  const input = objectIn(object, "input");
  if (name === null || input === null) return null;
  const tool = builtinName(name);
  return { tool, input: withAliases(tool, input) };
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

/** A request about one name on every axis of the verb that takes names. */
export function nameRequest(verb: string, name: string): Result<Request> {
  const entry = verbEntry(verb);
  const parsed = parseName(name);
  if (entry === null) return refuse("bad_value", `no verb ${verb}`);
  if (!parsed.ok) return parsed;
  return done({ verb: entry, values: entry.axes.map(() => parsed.value) });
}
