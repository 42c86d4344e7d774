// The syntax of the compact notation: `verb{key=value,flag}` to a verb's name and the tree of its scope.
import type { Span } from "../../authority/grant.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { unquote } from "../scope/place.ts";
import type { Entry, List, Mapping, Scalar, TreeNode } from "../tree.ts";
import { PLAIN_PLACES, type Places, spanWithin } from "./compact-places.ts";

export const compactCharactersMax = 16_384;
const compactDepthMax = 8;

/** Keys that may stand alone, meaning true. */
export const FLAGS: readonly string[] = ["ask", "clean", "raw", "args_only"];

export interface CompactSpec {
  readonly verb: string;
  readonly verbSpan: Span;
  readonly scope: Mapping | null;
}

/**
 * Stops at the first mistake and answers null. Runs once over the text; depth and length are limited. `places` say where
 * its characters stand under the span.
 */
export function parseCompact(
  text: string,
  span: Span,
  diagnostics: Diagnostics,
  places: Places = PLAIN_PLACES,
): CompactSpec | null {
  if (text.length > compactCharactersMax) {
    diagnostics.error("too_large", span, `a spec is at most ${compactCharactersMax} characters long`);
    return null;
  }
  return new CompactParser(text, span, diagnostics, places).spec();
}

class CompactParser {
  readonly #text: string;
  readonly #span: Span;
  readonly #diagnostics: Diagnostics;
  readonly #places: Places;
  #at = 0;

  constructor(text: string, span: Span, diagnostics: Diagnostics, places: Places) {
    this.#text = text;
    this.#span = span;
    this.#diagnostics = diagnostics;
    this.#places = places;
  }

  spec(): CompactSpec | null {
    this.#take(/\s*/y);
    const start = this.#at;
    const verb = this.#take(/[^\s{]+/y);
    if (verb === "") return this.#fail(start, "empty spec: start with a verb", "net.get{hosts=[api.example.com]}");
    const verbSpan = this.#spanFrom(start);
    this.#take(/\s*/y);
    if (this.#at === this.#text.length) return { verb, verbSpan, scope: null };
    if (this.#text[this.#at] !== "{") return this.#fail(this.#at, "only a scope in braces may follow the verb");
    const scope = this.#map(1);
    if (scope === null) return null;
    this.#take(/\s*/y);
    if (this.#at < this.#text.length) return this.#fail(this.#at, "there is text after the closing }");
    return { verb, verbSpan, scope };
  }

  /** Stands at `{`. */
  #map(depth: number): Mapping | null {
    if (depth > compactDepthMax) return this.#tooDeep();
    const start = this.#at++;
    const entries: Entry[] = [];
    const keys = new Set<string>();
    this.#take(/\s*/y);
    while (this.#text[this.#at] !== "}" || entries.length > 0) {
      const entry = this.#pair(depth);
      if (entry === null) return null;
      if (keys.has(entry.key)) return this.#failAt(entry.keySpan, `\`${entry.key.slice(0, 80)}\` is written twice`);
      keys.add(entry.key);
      entries.push(entry);
      const more = this.#separator("}", start);
      if (more === null) return null;
      if (!more) break;
    }
    this.#at++;
    return { kind: "map", entries, span: this.#spanFrom(start) };
  }

  #pair(depth: number): Entry | null {
    const start = this.#at;
    const key = this.#text[start] === '"' ? this.#quoted() : this.#take(/[^\s={}[\],"]+/y);
    if (key === null) return null;
    const keySpan = this.#spanFrom(start);
    this.#take(/\s*/y);
    const next = this.#text[this.#at];
    if (next === undefined) return this.#fail(start, "missing closing }");
    if (next === "=" && this.#at > start) {
      this.#at++;
      this.#take(/\s*/y);
      const value = this.#value(depth);
      return value === null ? null : { key, keySpan, value };
    }
    const isFlag = FLAGS.includes(key) && (next === "," || next === "}");
    if (isFlag) return { key, keySpan, value: { kind: "scalar", value: true, span: keySpan } };
    const fix = FLAGS.includes(key) || key === "" ? null : `${key.slice(0, 80)}=[...]`;
    return this.#fail(start, `malformed scope pair: ${JSON.stringify(this.#text.slice(start, start + 40))}`, fix);
  }

  #value(depth: number): TreeNode | null {
    const next = this.#text[this.#at];
    if (next === "{") return this.#map(depth + 1);
    if (next === "[") return this.#list(depth + 1);
    const start = this.#at;
    if (next === '"') {
      const value = this.#quoted();
      return value === null ? null : { kind: "scalar", value, span: this.#spanFrom(start) };
    }
    return this.#bare();
  }

  /** Stands at `[`. */
  #list(depth: number): List | null {
    if (depth > compactDepthMax) return this.#tooDeep();
    const start = this.#at++;
    const items: TreeNode[] = [];
    this.#take(/\s*/y);
    while (this.#text[this.#at] !== "]" || items.length > 0) {
      const item = this.#value(depth);
      if (item === null) return null;
      items.push(item);
      const more = this.#separator("]", start);
      if (more === null) return null;
      if (!more) break;
    }
    this.#at++;
    return { kind: "list", items, span: this.#spanFrom(start) };
  }

  /** After an item: true behind a comma, false at the closing mark. */
  #separator(close: "}" | "]", start: number): boolean | null {
    this.#take(/\s*/y);
    const next = this.#text[this.#at];
    if (next === close) return false;
    if (next === undefined) return this.#fail(start, `missing closing ${close}`);
    if (next !== ",")
      return this.#fail(this.#at, `put the whole value in double quotes; ${JSON.stringify(next)} is not allowed here`);
    this.#at++;
    this.#take(/\s*/y);
    return true;
  }

  #quoted(): string | null {
    const start = this.#at;
    const text = this.#take(/"(?:[^"\\]|\\.)*"/sy);
    const value = text === "" ? null : unquote(text);
    return value ?? this.#fail(start, "this is not a JSON string: a quote is open, or an escape is unknown");
  }

  /** Text up to the next mark, spaces inside it kept. A number, true, false or null is one, unless it is in quotes. */
  #bare(): Scalar | null {
    const start = this.#at;
    const text = this.#take(/[^,[\]{}"]+/y).trimEnd();
    if (text === "") {
      const missing = this.#at === this.#text.length;
      return this.#fail(start, missing ? "missing closing }" : "malformed scope pair: a value is missing");
    }
    const span = this.#spanOf(start, start + text.length);
    return { kind: "scalar", value: bareValue(text), span };
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  #spanFrom(start: number): Span {
    return this.#spanOf(start, this.#at);
  }

  #spanOf(start: number, end: number): Span {
    return spanWithin(this.#span, this.#places, start, end);
  }

  #fail(start: number, message: string, fix: string | null = null): null {
    return this.#failAt(this.#spanOf(start, Math.max(start + 1, this.#text.length)), message, fix);
  }

  #failAt(span: Span, message: string, fix: string | null = null): null {
    this.#diagnostics.error("syntax", span, message, { fix });
    return null;
  }

  #tooDeep(): null {
    this.#diagnostics.error(
      "too_large",
      this.#spanOf(this.#at, this.#at + 1),
      `braces nest deeper than ${compactDepthMax}`,
    );
    return null;
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What a bare word is: the printer puts a string in quotes when this would read something else. */
export function bareValue(text: string): string | number | boolean | null {
  if (text === "true") return true;
  if (text === "false") return false;
  if (text === "null") return null;
  return NUMBER.test(text) ? Number(text) : text;
}
