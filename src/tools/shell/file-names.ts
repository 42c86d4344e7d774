// Patterns of file names inside a script, `*`, `?` and `[...]`, against one name of a folder. Not our path patterns:
// these are what a shell's user writes, and they only ever choose among names that are there.
import { namePatternCharactersMax } from "./limits.ts";
import type { Word } from "./script.ts";

type Piece =
  | { readonly kind: "one"; readonly matches: (character: string) => boolean }
  /** Any number of characters. */
  | { readonly kind: "many" };

/** The text of a pattern word: what was quoted stands behind backslashes. Null if a variable is in it. */
export function patternText(word: Word): string | null {
  let text = "";
  // Signs that have a meaning only in brackets are ordinary where there are none.
  const special = word.parts.some((part) => part.kind === "plain" && part.text.includes("["))
    ? /[*?[\]\\!^-]/g
    : /[*?[\\]/g;
  for (const part of word.parts) {
    if (part.kind === "variable") return null;
    text += part.kind === "plain" ? part.text : part.text.replace(special, "\\$&");
  }
  return text;
}

/** Whether a pattern chooses this name in a folder: hidden names only if the pattern begins with their dot. */
export function choosesName(pattern: string, name: string): boolean {
  if (name.startsWith(".") && !/^\\?\./.test(pattern)) return false;
  return name !== "." && name !== ".." && matchesName(pattern, name);
}

/** A pattern that is too long matches nothing. */
export function matchesName(pattern: string, name: string): boolean {
  if (pattern.length > namePatternCharactersMax) return false;
  const pieces = piecesOf([...pattern]);
  const characters = [...name];
  // Only the last star needs to be tried again: what the ones before it took can stay as short as it is.
  let [piece, at, star, retry] = [0, 0, -1, 0];
  while (at < characters.length) {
    const wanted = pieces[piece];
    if (wanted?.kind === "many") {
      star = piece++;
      retry = at;
    } else if (wanted?.kind === "one" && wanted.matches(characters[at] as string)) {
      piece++;
      at++;
    } else if (star >= 0) {
      piece = star + 1;
      at = ++retry;
    } else return false;
  }
  while (pieces[piece]?.kind === "many") piece++;
  return piece === pieces.length;
}

function piecesOf(pattern: readonly string[]): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < pattern.length; ) {
    const character = pattern[at] as string;
    const bracket = character === "[" ? bracketAt(pattern, at) : null;
    if (bracket !== null) {
      pieces.push(bracket.piece);
      at = bracket.end;
      continue;
    }
    if (character === "*") pieces.push({ kind: "many" });
    else if (character === "?") pieces.push({ kind: "one", matches: () => true });
    else {
      const literal = character === "\\" && at + 1 < pattern.length ? (pattern[++at] as string) : character;
      pieces.push({ kind: "one", matches: (other) => other === literal });
    }
    at++;
  }
  return pieces;
}

interface Bracket {
  readonly piece: Piece;
  readonly end: number;
}

/** `[abc]`, `[a-c]`, `[!abc]`, `[[:digit:]]`. A `]` directly at the start is a member. Null: no end, so no bracket. */
function bracketAt(pattern: readonly string[], start: number): Bracket | null {
  let at = start + 1;
  const isNegated = pattern[at] === "!" || pattern[at] === "^";
  if (isNegated) at++;
  const tests: ((character: string) => boolean)[] = [];
  for (let isFirst = true; ; isFirst = false) {
    if (at >= pattern.length) return null;
    if (pattern[at] === "]" && !isFirst) break;
    const named = classAt(pattern, at);
    if (named !== null) {
      tests.push(named.matches);
      at = named.end;
      continue;
    }
    const low = memberAt(pattern, at);
    if (low === null) return null;
    at = low.end;
    const isRange = pattern[at] === "-" && pattern[at + 1] !== "]";
    const high = isRange ? memberAt(pattern, at + 1) : low;
    if (high === null) return null;
    at = high.end;
    tests.push((character) => isBetween(character, low.text, high.text));
  }
  const matches = (character: string): boolean => tests.some((test) => test(character)) !== isNegated;
  return { piece: { kind: "one", matches }, end: at + 1 };
}

function memberAt(pattern: readonly string[], at: number): { readonly text: string; readonly end: number } | null {
  const isEscaped = pattern[at] === "\\";
  const text = pattern[isEscaped ? at + 1 : at];
  return text === undefined ? null : { text, end: at + (isEscaped ? 2 : 1) };
}

function isBetween(character: string, low: string, high: string): boolean {
  const [code, from, to] = [character, low, high].map((each) => each.codePointAt(0) ?? -1) as [number, number, number];
  return from <= code && code <= to;
}

const NAMED: ReadonlyMap<string, RegExp> = new Map([
  ["alnum", /[A-Za-z0-9]/],
  ["alpha", /[A-Za-z]/],
  ["blank", /[ \t]/],
  ["digit", /[0-9]/],
  ["lower", /[a-z]/],
  ["punct", /[!-/:-@[-`{-~]/],
  ["space", /[ \t\n\v\f\r]/],
  ["upper", /[A-Z]/],
  ["xdigit", /[0-9A-Fa-f]/],
]);
const namedCharactersMax = 16;

/** A class by its name, ASCII only. One that nobody knows has no members. */
function classAt(
  pattern: readonly string[],
  at: number,
): { readonly matches: (character: string) => boolean; readonly end: number } | null {
  if (pattern[at] !== "[" || pattern[at + 1] !== ":") return null;
  const text = pattern.slice(at + 2, at + 4 + namedCharactersMax).join("");
  const end = text.indexOf(":]");
  if (end < 0) return null;
  const test = NAMED.get(text.slice(0, end));
  return { matches: (character) => test?.test(character) ?? false, end: at + 4 + end };
}
