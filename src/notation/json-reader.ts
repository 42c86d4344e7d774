// Reads JSON strictly: no key twice, no number that loses digits, no text that is not text, nothing deep or long.
import type { Json, JsonObject } from "../authority/json.ts";
import { jsonCharactersMax, jsonDepthMax } from "../authority/limits.ts";
import { isPlainText } from "../authority/reserved.ts";
import { done, type Refusal, type RefusalCode, type Result, refuse } from "../authority/result.ts";

/** What is read is frozen all through, and its objects inherit nothing. */
export function parseJson(text: string): Result<Json> {
  if (text.length > jsonCharactersMax)
    return refuse("too_long", `the JSON is longer than ${jsonCharactersMax} characters`);
  const reader = new JsonReader(text);
  const value = reader.document();
  return value === REFUSED ? (reader.refusal as Refusal) : done(value);
}

const REFUSED = Symbol("refused");
type Read<T> = T | typeof REFUSED;

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS: ReadonlyMap<string, null | boolean> = new Map([
  ["null", null],
  ["true", true],
  ["false", false],
]);

class JsonReader {
  refusal: Refusal | null = null;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Read<Json> {
    const value = this.#value(0);
    if (value === REFUSED) return value;
    this.#take(SPACE);
    return this.#at === this.#text.length ? value : this.#refuse("bad_value", "something follows the JSON");
  }

  #value(depth: number): Read<Json> {
    if (depth > jsonDepthMax) return this.#refuse("too_long", `the JSON is nested deeper than ${jsonDepthMax}`);
    this.#take(SPACE);
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#list(depth);
      case '"':
        return this.#string();
      default:
        return this.#word();
    }
  }

  #word(): Read<Json> {
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    const digits = this.#take(NUMBER);
    if (digits === null) return this.#refuse("bad_value", "this is not JSON");
    const number = Number(digits);
    if (Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))) return number;
    return this.#refuse("bad_value", "a number is too large to be exact");
  }

  /** The end is found by hand: a pattern that repeats a choice can run out of stack on a long string. */
  #string(): Read<string> {
    const start = this.#at++;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"')
      this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    this.#at++;
    const text = unquote(this.#text.slice(start, this.#at));
    if (text === null) return this.#refuse("bad_value", "a string is not closed, or holds what no string holds");
    return isPlainText(text) ? text : this.#refuse("bad_value", "a string holds a character that is not text");
  }

  #list(depth: number): Read<Json> {
    const items: Json[] = [];
    this.#at++;
    if (this.#next("]")) return Object.freeze(items);
    for (;;) {
      const value = this.#value(depth + 1);
      if (value === REFUSED) return value;
      items.push(value);
      if (this.#next("]")) return Object.freeze(items);
      if (!this.#next(",")) return this.#refuse("bad_value", "a list goes on with a comma or ends with ]");
    }
  }

  #object(depth: number): Read<JsonObject> {
    const object: Record<string, Json> = Object.create(null);
    this.#at++;
    if (this.#next("}")) return Object.freeze(object);
    for (;;) {
      this.#take(SPACE);
      const key = this.#text[this.#at] === '"' ? this.#string() : this.#refuse("bad_value", "a key is a string");
      if (key === REFUSED) return key;
      if (Object.hasOwn(object, key)) return this.#refuse("bad_value", "a key is written twice");
      if (!this.#next(":")) return this.#refuse("bad_value", "a key is followed by a colon");
      const value = this.#value(depth + 1);
      if (value === REFUSED) return value;
      // Without a prototype `__proto__` is a key like any other.
      object[key] = value;
      if (this.#next("}")) return Object.freeze(object);
      if (!this.#next(",")) return this.#refuse("bad_value", "an object goes on with a comma or ends with }");
    }
  }

  #next(character: string): boolean {
    this.#take(SPACE);
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return null;
    this.#at = pattern.lastIndex;
    return match[0];
  }

  #refuse(code: RefusalCode, message: string): typeof REFUSED {
    this.refusal ??= refuse(code, `${message} (at character ${this.#at})`);
    return REFUSED;
  }
}

function unquote(quoted: string): string | null {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return null;
  }
}
