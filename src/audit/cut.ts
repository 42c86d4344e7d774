// Makes a value small enough to be written down: what is too long is cut where one sees it, and nothing goes missing unseen.
import { isJsonList, type Json, type JsonObject } from "../authority/json.ts";

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

/** Never between the halves of a character. */
export function cutText(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const last = text.charCodeAt(charactersMax - 1);
  const kept = text.slice(0, last >= 0xd800 && last < 0xdc00 ? charactersMax - 1 : charactersMax);
  return kept + mark(`${text.length - kept.length} characters`);
}

/** Whether something lies more than so many lists and objects down; never looks further. */
export function isDeeper(value: Json, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth <= 0) return true;
  if (isJsonList(value)) return value.some((element) => isDeeper(element, depth - 1));
  for (const key of Object.keys(value)) if (isDeeper((value as JsonObject)[key] as Json, depth - 1)) return true;
  return false;
}

function cutList(list: readonly Json[], sizes: CutSizes): readonly Json[] {
  const kept = list.slice(0, sizes.elements).map((element) => cutJson(element, sizes));
  if (list.length > sizes.elements) kept.push(mark(`${list.length - sizes.elements} elements`));
  return kept;
}

/** Members whose names are cut stay apart by their number. */
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
