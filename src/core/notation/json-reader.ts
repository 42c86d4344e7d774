// Parses JSON strictly: the platform's parser, and checks for what it accepts silently: duplicate keys, integers that lose
// digits, characters that are not text, and any depth or length.

import { isPlainText } from "../authority/patterns/reserved.ts";
import { isJsonList, type Json, type JsonObject } from "../base/json.ts";
import { jsonCharactersMax, jsonDepthMax } from "../base/limits.ts";
import { done, type Refusal, type Result, refuse } from "../base/result.ts";

/** The value is deeply frozen, and its objects have no prototype. */
export function parseJson(text: string): Result<Json> {
  if (text.length > jsonCharactersMax)
    return refuse("too_long", `the JSON is longer than ${jsonCharactersMax} characters`);
  const keys = countKeys(text);
  if (keys === null) return TOO_DEEP;
  const parsed = parse(text);
  if (parsed === undefined) return refuse("bad_value", "this is not JSON");
  const copy = new StrictCopy();
  const value = copy.value(parsed, 0);
  if (copy.refusal !== null) return copy.refusal;
  // INVARIANT: of duplicate keys the platform keeps one, so the value has fewer keys than the text.
  return copy.keys === keys ? done(value) : refuse("bad_value", "a key is written twice");
}

const TOO_DEEP: Refusal = refuse("too_long", `the JSON is nested deeper than ${jsonDepthMax}`);

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Colons outside strings: the number of keys, if the text is JSON. Null if it is nested too deeply. */
function countKeys(text: string): number | null {
  let keys = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = stringEnd(text, at);
        break;
      case COLON:
        keys++;
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > jsonDepthMax + 1) return null;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
      default:
    }
  }
  return keys;
}

/** The position of the closing quote, or the end of the text. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

class StrictCopy {
  keys = 0;
  refusal: Refusal | null = null;

  value(value: Json, depth: number): Json {
    if (this.refusal !== null) return null;
    if (depth > jsonDepthMax) return this.#refuse(TOO_DEEP);
    if (typeof value === "string") return this.#text(value);
    if (typeof value === "number") {
      const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
      return isExact ? value : this.#refuse(refuse("bad_value", "a number is too large to be exact"));
    }
    if (typeof value !== "object" || value === null) return value;
    if (isJsonList(value)) return Object.freeze(value.map((item) => this.value(item, depth + 1)));
    return this.#object(value as JsonObject, depth);
  }

  #text(text: string): Json {
    return isPlainText(text) ? text : this.#refuse(refuse("bad_value", "a string contains an unpaired surrogate"));
  }

  #object(object: JsonObject, depth: number): JsonObject {
    const copy: Record<string, Json> = Object.create(null);
    for (const key of Object.keys(object)) {
      this.keys++;
      this.#text(key);
      // Without a prototype `__proto__` is a key like any other.
      copy[key] = this.value(object[key] as Json, depth + 1);
    }
    return Object.freeze(copy);
  }

  #refuse(refusal: Refusal): null {
    this.refusal ??= refusal;
    return null;
  }
}
