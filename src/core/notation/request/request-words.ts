// One line into words, the way a shell does it: spaces, quotes, backslashes. Nothing is expanded.
import { jsonCharactersMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";

export function splitWords(line: string): Result<readonly string[]> {
  if (line.length > jsonCharactersMax)
    return refuse("too_long", `the line is longer than ${jsonCharactersMax} characters`);
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < line.length; at++) {
    const character = line[at] as string;
    const next = line[at + 1];
    if (quote === null && /\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (quote === null && (character === "'" || character === '"')) {
      quote = character;
      word ??= "";
    } else if (character === quote) quote = null;
    else if (character === "\\" && next !== undefined && (quote === null || (quote === '"' && /["\\$`]/.test(next)))) {
      word = (word ?? "") + next;
      at++;
    } else word = (word ?? "") + character;
  }
  if (quote !== null) return refuse("bad_value", `a ${quote} is not closed`);
  return done(word === null ? words : [...words, word]);
}

export interface Words {
  readonly plain: readonly string[];
  readonly named: ReadonlyMap<string, string>;
}

/** Tells `key=value` words with these keys from the others; a key twice is refused. */
export function namedWords(words: readonly string[], keys: readonly string[]): Result<Words> {
  const plain: string[] = [];
  const named = new Map<string, string>();
  for (const word of words) {
    const equals = word.indexOf("=");
    const key = equals < 0 ? null : keys.find((one) => one === word.slice(0, equals));
    if (key === null || key === undefined) plain.push(word);
    else if (named.has(key)) return refuse("bad_value", `${key}= is written twice`);
    else named.set(key, word.slice(equals + 1));
  }
  return done({ plain, named });
}
