// One text for one value: what is hashed and signed must not depend on who wrote it down, or in which order.
import { isJsonList, type Json, type JsonObject } from "../authority/json.ts";

/**
 * Members in the order of their names' code units, no blanks, -0 as 0, half characters escaped.
 * Throws for what is no JSON (a number that is not finite, a member that is not there): only a mistake of ours can hand that in.
 */
export function canonicalJson(value: Json): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
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
  for (const key of Object.keys(object).sort())
    text += `${text.length === 1 ? "" : ","}${JSON.stringify(key)}:${canonicalJson(object[key] as Json)}`;
  return `${text}}`;
}
