// Reads the JSON of a message: as strictly as everywhere, and quickly where it is written as we write it ourselves.
import { isJsonList, type Json, type JsonObject } from "../../authority/json.ts";
import { jsonDepthMax } from "../../authority/limits.ts";
import { done, type Result } from "../../authority/result.ts";
import { parseJson } from "../../notation/json-reader.ts";

/** Longer ones are rare, and copying them is what takes the time then. */
const quickCharactersMax = 16_384;
/** What may be an escape, or no text. */
const UNUSUAL = /[\\\0\ud800-\udfff\ue000\ue001]/;

/** INVARIANT: the same answer as `parseJson`, always; where there is any doubt, it is asked. */
export function readMessageJson(text: string): Result<Json> {
  const value = quick(text);
  return value === undefined ? parseJson(text) : done(value);
}

function quick(text: string): Json | undefined {
  if (text.length > quickCharactersMax || UNUSUAL.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    // Spelled back it is another text if a key was written twice or a number lost digits.
    return JSON.stringify(value) === text ? frozen(value, 0) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined for what only the strict reader may judge. */
function frozen(value: Json, depth: number): Json | undefined {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= jsonDepthMax) return undefined;
  return isJsonList(value) ? frozenList(value, depth) : frozenObject(value as JsonObject, depth);
}

function frozenList(list: readonly Json[], depth: number): Json | undefined {
  const items: Json[] = [];
  for (const each of list) {
    const item = frozen(each, depth + 1);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return Object.freeze(items);
}

function frozenObject(object: JsonObject, depth: number): Json | undefined {
  const copy: Record<string, Json> = Object.create(null);
  for (const key of Object.keys(object)) {
    const member = frozen(object[key] as Json, depth + 1);
    if (member === undefined) return undefined;
    // Without a prototype `__proto__` is a key like any other.
    copy[key] = member;
  }
  return Object.freeze(copy);
}
