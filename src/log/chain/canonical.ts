// Canonical JSON: the text that is hashed and signed must not depend on the writer or on the order of members.
import { isJsonList, type Json, type JsonObject } from "../../core/base/json.ts";

/**
 * Members sorted by the code units of their names, no blanks, -0 as 0, lone surrogates escaped. Throws for a value that
 * is not JSON (a number that is not finite, an undefined member): only a bug of ours can pass one.
 */
export function canonicalJson(value: Json): string {
  switch (typeof value) {
    case "string":
      return canonicalString(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) throw new TypeError("only finite numbers have a canonical form");
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      return isJsonList(value) ? listText(value) : objectText(value as JsonObject);
    default:
      throw new TypeError(`a value of type ${typeof value} has no canonical form`);
  }
}

/**
 * The same, or null if it would be longer or deeper than the limits: no more text is built than fits. A value without a
 * canonical form throws as above, unless it is beyond the limit.
 */
export function canonicalWithin(value: Json, charactersMax: number, depthMax: number): string | null {
  switch (typeof value) {
    case "string":
      return value.length + 2 > charactersMax ? null : within(canonicalString(value), charactersMax);
    case "object":
      if (value === null) return within("null", charactersMax);
      if (depthMax <= 0) return null;
      return isJsonList(value)
        ? listWithin(value, charactersMax, depthMax)
        : objectWithin(value as JsonObject, charactersMax, depthMax);
    default:
      return within(canonicalJson(value), charactersMax);
  }
}

function within(text: string, charactersMax: number): string | null {
  return text.length > charactersMax ? null : text;
}

function listWithin(list: readonly Json[], charactersMax: number, depthMax: number): string | null {
  let text = "[";
  for (let at = 0; at < list.length; at++) {
    if (at > 0) text += ",";
    const each = canonicalWithin(list[at] as Json, charactersMax - text.length, depthMax - 1);
    if (each === null) return null;
    text += each;
  }
  return within(`${text}]`, charactersMax);
}

function objectWithin(object: JsonObject, charactersMax: number, depthMax: number): string | null {
  let text = "{";
  for (const key of sorted(Object.keys(object))) {
    if (key.length > charactersMax - text.length) return null;
    text += `${text.length === 1 ? "" : ","}${canonicalString(key)}:`;
    const each = canonicalWithin(object[key] as Json, charactersMax - text.length, depthMax - 1);
    if (each === null) return null;
    text += each;
  }
  return within(`${text}}`, charactersMax);
}

function listText(list: readonly Json[]): string {
  let text = "[";
  // By index, so that a hole in the list throws.
  for (let at = 0; at < list.length; at++) text += (at === 0 ? "" : ",") + canonicalJson(list[at] as Json);
  return `${text}]`;
}

function objectText(object: JsonObject): string {
  let text = "{";
  for (const key of sorted(Object.keys(object)))
    text += `${text.length === 1 ? "" : ","}${canonicalString(key)}:${canonicalJson(object[key] as Json)}`;
  return `${text}}`;
}

/** A string's canonical form. Most strings need no escapes, and checking that first is faster. */
export function canonicalString(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Keys that are already in order, like ours, are returned as they are. */
function sorted(keys: string[]): readonly string[] {
  for (let at = 1; at < keys.length; at++) if ((keys[at - 1] as string) > (keys[at] as string)) return keys.sort();
  return keys;
}
