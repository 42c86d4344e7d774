// Truncates a value so that it can be logged: every cut is marked, and nothing is dropped silently.
import { isJsonList, type Json, type JsonObject } from "../../core/base/json.ts";

export interface CutSizes {
  readonly characters: number;
  readonly elements: number;
  readonly depth: number;
}

export function cutJson(value: Json, sizes: CutSizes): Json {
  if (typeof value === "string") return cutText(value, sizes.characters);
  if (typeof value !== "object" || value === null) return value;
  if (sizes.depth <= 0) return mark("deeper");
  const inner = { ...sizes, depth: sizes.depth - 1 };
  return isJsonList(value) ? cutList(value, inner) : cutObject(value as JsonObject, inner);
}

/** Never between two surrogates. */
export function cutText(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const last = text.charCodeAt(charactersMax - 1);
  const kept = text.slice(0, last >= 0xd800 && last < 0xdc00 ? charactersMax - 1 : charactersMax);
  return kept + mark(`${text.length - kept.length} characters`);
}

/** Whether it has at most that many characters and levels. Never reads further than that. */
export function isSmall(value: Json, charactersMax: number, depthMax: number): boolean {
  return weight(value, charactersMax, depthMax) <= charactersMax;
}

/** A lower bound of its length as JSON, or infinity if it is too deep. */
function weight(value: Json, charactersMax: number, depth: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  if (depth <= 0) return Number.POSITIVE_INFINITY;
  const isList = isJsonList(value);
  let sum = 1;
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const each = (value as JsonObject)[key] as Json;
    sum += 1 + (isList ? 0 : String(key).length) + weight(each, charactersMax - sum, depth - 1);
    if (sum > charactersMax) break;
  }
  return sum;
}

function cutList(list: readonly Json[], sizes: CutSizes): readonly Json[] {
  const kept = list.slice(0, sizes.elements).map((element) => cutJson(element, sizes));
  if (list.length > sizes.elements) kept.push(mark(`${list.length - sizes.elements} elements`));
  return kept;
}

/** Members with truncated names are numbered, so that they stay distinct. */
function cutObject(object: JsonObject, sizes: CutSizes): JsonObject {
  const kept = new Map<string, Json>();
  const keys = Object.keys(object);
  for (const [at, key] of keys.slice(0, sizes.elements).entries()) {
    const name = key.length > sizes.characters ? `${cutText(key, sizes.characters)}#${at}` : key;
    kept.set(name, cutJson(object[key] as Json, sizes));
  }
  if (keys.length > sizes.elements) {
    let name = "…";
    while (kept.has(name)) name += "…";
    kept.set(name, mark(`${keys.length - sizes.elements} members`));
  }
  return Object.fromEntries(kept);
}

function mark(what: string): string {
  return `…[cut: ${what}]`;
}
