// One text for one value: what is hashed and signed must not depend on who wrote it down, or in which order.
import { isJsonList, type Json, type JsonObject } from "../authority/json.ts";

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

/** Nearly all text needs no escapes, and to see that is quicker than to let it be looked for. */
function quoted(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Those that are in order already, as ours are, are left alone. */
function sorted(keys: string[]): readonly string[] {
  for (let at = 1; at < keys.length; at++) if ((keys[at - 1] as string) > (keys[at] as string)) return keys.sort();
  return keys;
}
