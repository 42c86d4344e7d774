// Splits entries and queries into words by one rule, so that results do not depend on where they are searched.
import type { Json } from "../../core/base/json.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";

const WORD = /[\p{L}\p{N}_]+/gu;

/** Each once, in lower case. */
export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.normalize("NFC").toLowerCase().match(WORD) ?? []);
}

/** Of every value in it, at any depth; not of the names of its members. */
export function wordsOfEntry(entry: LogEntry): ReadonlySet<string> {
  const texts: string[] = [];
  collect(entry as unknown as Json, texts);
  // No word contains a line break, so no two values are joined into one word.
  return wordsOf(texts.join("\n"));
}

function collect(value: Json, into: string[]): void {
  if (typeof value === "string") into.push(value);
  else if (typeof value === "number") into.push(String(value));
  else if (typeof value === "object" && value !== null) for (const part of Object.values(value)) collect(part, into);
}

const tokenCharactersMax = 64;

/**
 * A word or a fact as one token of letters and digits: tokens are unique, except that long ones are cut to a prefix.
 * Results are always compared with the entry itself.
 */
export function tokenOf(mark: string, text: string): string {
  let token = mark;
  const length = Math.min(text.length, tokenCharactersMax);
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    const isPlain = (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x79);
    token += isPlain ? text[at] : `z${code.toString(16).padStart(4, "0")}`;
  }
  return token;
}
