// JSON as the core sees it: already parsed, without duplicate keys, without numbers that lost digits.
import { jsonDepthMax } from "./limits.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isJsonList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Whether a text is JSON as it is defined: no comments, no trailing commas. */
export function isPlainJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Reads an own member; a name such as `__proto__` is an ordinary key or is not there. */
export function member(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * A frozen copy of what is plain data all the way down, else undefined. Each property is read once and never through
 * a getter, so what is decided on, approved and run is one and the same value whatever the caller holds on to.
 */
export function copyJson(value: unknown, depth = 0): Json | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "object" || depth >= jsonDepthMax) return undefined;
  return Array.isArray(value) ? copyList(value, depth) : copyObject(value, depth);
}

function copyList(value: readonly unknown[], depth: number): Json | undefined {
  const copy: Json[] = [];
  const { length } = value;
  for (let at = 0; at < length; at++) {
    const element = copyJson(own(value, String(at)), depth + 1);
    if (element === undefined) return undefined;
    copy.push(element);
  }
  return Object.freeze(copy);
}

function copyObject(value: object, depth: number): JsonObject | undefined {
  const copy: Record<string, Json> = Object.create(null) as Record<string, Json>;
  for (const key of Reflect.ownKeys(value)) {
    const element = typeof key === "string" ? copyJson(own(value, key), depth + 1) : undefined;
    if (element === undefined) return undefined;
    copy[key as string] = element;
  }
  return Object.freeze(copy);
}

/** The value of an ordinary property; undefined for a getter, and for what is not there. */
function own(object: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value;
}
