// One text for one value: what is hashed and signed must not depend on who wrote it down, or in which order.
import { isJsonList, type Json, type JsonObject } from "../../core/base/json.ts";

/**
 * Members in the order of their names' code units, no blanks, -0 as 0, half characters escaped.
 * Throws for what is no JSON (a number that is not finite, a member that is not there): only a mistake of ours can hand that in.
 */
export function canonicalJson(value: Json): string {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) throw new TypeError("a number that is not finite has no canonical form");
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      return isJsonList(value) ? listText(value) : objectText(value as JsonObject);
    default:
      throw new TypeError(`a value of type ${typeof value} has no canonical form`);
  }
}

/**
 * The same, or null where it would be longer than that or lies deeper: no more is spelled out than fits. What has no canonical
 * form is thrown as above, unless it lies behind the end.
 */
export function canonicalWithin(value: Json, charactersMax: number, depthMax: number): string | null {
  switch (typeof value) {
    case "string":
      return value.length + 2 > charactersMax ? null : within(quoted(value), charactersMax);
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
    text += `${text.length === 1 ? "" : ","}${quoted(key)}:`;
    const each = canonicalWithin(object[key] as Json, charactersMax - text.length, depthMax - 1);
    if (each === null) return null;
    text += each;
  }
  return within(`${text}}`, charactersMax);
}

function listText(list: readonly Json[]): string {
  let text = "[";
  // By number: a hole in the list is met, and is a mistake.
  for (let at = 0; at < list.length; at++) text += (at === 0 ? "" : ",") + canonicalJson(list[at] as Json);
  return `${text}]`;
}

function objectText(object: JsonObject): string {
  let text = "{";
  for (const key of sorted(Object.keys(object)))
    text += `${text.length === 1 ? "" : ","}${quoted(key)}:${canonicalJson(object[key] as Json)}`;
  return `${text}}`;
}

/** A text's canonical form. Nearly all text needs no escapes, and to see that is quicker than to let it be looked for. */
export function quoted(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Those that are in order already, as ours are, are left alone. */
function sorted(keys: string[]): readonly string[] {
  for (let at = 1; at < keys.length; at++) if ((keys[at - 1] as string) > (keys[at] as string)) return keys.sort();
  return keys;
}
