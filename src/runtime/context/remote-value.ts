// JSON encoding of values between a context and remote code: bytes are `{"$bytes": base64}`, and everything is bounded.

import { base64Bytes, base64Text } from "../../core/base/bytes.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";

/** Members and elements of one value, at all levels. */
const partsMax = 200_000;
const depthMax = 16;
const BYTES = "$bytes";

/** Undefined for a value that is not plain data. Each property is read once, and never through a getter. */
export function remoteJson(value: unknown): Json | undefined {
  let left = partsMax;
  const encode = (one: unknown, depth: number): Json | undefined => {
    if (one === null || typeof one === "boolean" || typeof one === "string") return one;
    if (typeof one === "number") return Number.isFinite(one) ? one : undefined;
    if (typeof one !== "object" || depth >= depthMax || left-- <= 0) return undefined;
    if (one instanceof Uint8Array) return { [BYTES]: base64Text(one) };
    if (Array.isArray(one)) {
      const list: Json[] = [];
      for (let at = 0; at < one.length; at++) {
        const element = own(one, String(at));
        const encoded = element === undefined ? null : encode(element, depth + 1);
        if (encoded === undefined) return undefined;
        list.push(encoded);
      }
      return list;
    }
    const copy = Object.create(null) as Record<string, Json>;
    for (const key of Reflect.ownKeys(one)) {
      const member = own(one, key);
      if (member === undefined) continue;
      const encoded = typeof key === "string" ? encode(member, depth + 1) : undefined;
      if (encoded === undefined) return undefined;
      copy[key as string] = encoded;
    }
    return copy;
  };
  return encode(value, 0);
}

/** Undefined if it is too large, or has invalid bytes. Frozen, except for bytes, which cannot be frozen. */
export function remoteValue(json: Json): unknown {
  let left = partsMax;
  const decode = (one: Json, depth: number): unknown => {
    if (typeof one !== "object" || one === null) return one;
    if (depth >= depthMax || left-- <= 0) return undefined;
    if (Array.isArray(one)) {
      const list: unknown[] = [];
      for (const element of one as readonly Json[]) {
        const decoded = decode(element, depth + 1);
        if (decoded === undefined) return undefined;
        list.push(decoded);
      }
      return Object.freeze(list);
    }
    const keys = Object.keys(one);
    const bytes = (one as JsonObject)[BYTES];
    if (keys.length === 1 && keys[0] === BYTES)
      return (typeof bytes === "string" ? base64Bytes(bytes) : null) ?? undefined;
    const copy = Object.create(null) as Record<string, unknown>;
    for (const key of keys) {
      const decoded = decode((one as JsonObject)[key] as Json, depth + 1);
      if (decoded === undefined) return undefined;
      copy[key] = decoded;
    }
    return Object.freeze(copy);
  };
  return decode(json, 0);
}

function own(object: object, key: string | symbol): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value;
}
