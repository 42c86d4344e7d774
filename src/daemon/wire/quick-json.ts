// Reads the JSON of a message: as strictly as everywhere, and quickly where it is written as we write it ourselves.
import { isJsonList, type Json, type JsonObject } from "../../authority/json.ts";
import { jsonCharactersMax, jsonDepthMax } from "../../authority/limits.ts";
import { done, type Result } from "../../authority/result.ts";
import { parseJson } from "../../notation/json-reader.ts";

/** What may be no text, or be none once it is read: an escape by number, half a pair, and the characters kept for us. */
const UNUSUAL = /\\u|[\0\ud800-\udfff\ue000\ue001]/u;

/**
 * INVARIANT: what is read and what is refused is the same as with `parseJson`; where there is any doubt, it is asked. It
 * is frozen all through, but inherits what objects do: a member is looked for by `member`.
 */
export function readMessageJson(text: string): Result<Json> {
  const value = quick(text);
  return value === undefined ? parseJson(text) : done(value);
}

function quick(text: string): Json | undefined {
  // A key of that name is harmless where nothing is inherited, which is how the strict reader makes its objects.
  if (text.length > jsonCharactersMax || UNUSUAL.test(text) || text.includes("__proto__")) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    const keys = freeze(value, 0);
    if (keys === null) return undefined;
    // Every key has a colon of its own: where there are no more of them, none was written twice. Where there are,
    // what is spelled back is another text if one was.
    return keys === colonsIn(text) || JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

function colonsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf(":"); at !== -1; at = text.indexOf(":", at + 1)) count++;
  return count;
}

/**
 * Tells how many keys there are, at any depth. Null for what only the strict reader may judge: deep, or a number that is
 * not exact.
 */
function freeze(value: Json, depth: number): number | null {
  if (typeof value === "number") return Number.isSafeInteger(value) || isFraction(value) ? 0 : null;
  if (typeof value !== "object" || value === null) return 0;
  if (depth >= jsonDepthMax) return null;
  const keys = isJsonList(value) ? freezeList(value, depth) : freezeObject(value as JsonObject, depth);
  Object.freeze(value);
  return keys;
}

function freezeList(list: readonly Json[], depth: number): number | null {
  let count = 0;
  for (const each of list) {
    const within = freeze(each, depth + 1);
    if (within === null) return null;
    count += within;
  }
  return count;
}

function freezeObject(object: JsonObject, depth: number): number | null {
  let count = 0;
  for (const key of Object.keys(object)) {
    const within = freeze(object[key] as Json, depth + 1);
    if (within === null) return null;
    count += within + 1;
  }
  return count;
}

function isFraction(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value);
}
