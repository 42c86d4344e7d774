// File-name patterns in a script, `*`, `?` and `[...]`, matched against one name of a folder. Not our path patterns:
// these are shell patterns, and they only select among existing names.
import { namePatternCharactersMax } from "../language/limits.ts";
import type { Word } from "../language/script.ts";
import { type One, type Piece, piecesOf } from "./name-pieces.ts";

/** A parsed pattern, reused for all names. */
export interface NamePattern {
  /** Whether it matches this name in a folder: hidden names only if the pattern begins with a dot. */
  chooses(name: string): boolean;
  matches(name: string): boolean;
}

/** The text of a pattern word with quoted characters escaped by backslashes. Null if it contains a variable. */
export function patternText(word: Word): string | null {
  let text = "";
  // Characters that are special only in brackets are ordinary without them.
  const special = word.parts.some((part) => part.kind === "plain" && part.text.includes("["))
    ? /[*?[\]\\!^-]/g
    : /[*?[\\]/g;
  for (const part of word.parts) {
    if (part.kind === "variable") return null;
    text += part.kind === "plain" ? part.text : part.text.replace(special, "\\$&");
  }
  return text;
}

/** A pattern that is too long matches nothing. `count` receives the steps of each name. */
export function namePattern(pattern: string, count: (steps: number) => void = () => undefined): NamePattern {
  const pieces = pattern.length > namePatternCharactersMax ? null : piecesOf([...pattern]);
  const runs = pieces === null ? [] : runsOf(pieces);
  const fewest = runs.reduce((sum, { length }) => sum + length, 0);
  const takesHidden = /^\\?\./.test(pattern);
  const matches = (name: string): boolean => {
    if (pieces === null) return false;
    const comparing = new NameComparison([...name]);
    const isMatching = comparing.characters.length >= fewest && comparing.runs(runs);
    // Splitting a name costs something too, far less than matching it.
    count(1 + (name.length >> 4) + comparing.steps);
    return isMatching;
  };
  const chooses = (name: string): boolean => {
    if (name === "." || name === ".." || (name.startsWith(".") && !takesHidden)) {
      count(1);
      return false;
    }
    return matches(name);
  };
  return { chooses, matches };
}

export function choosesName(pattern: string, name: string): boolean {
  return namePattern(pattern).chooses(name);
}

export function matchesName(pattern: string, name: string): boolean {
  return namePattern(pattern).matches(name);
}

/** The runs between the stars: always one more than there are stars, and empty between two adjacent ones. */
function runsOf(pieces: readonly Piece[]): readonly (readonly One[])[] {
  const runs: One[][] = [[]];
  for (const piece of pieces) {
    if (piece.kind === "many") runs.push([]);
    else runs.at(-1)?.push(piece);
  }
  return runs;
}

/** One name matched against the runs of a pattern. */
class NameComparison {
  readonly characters: readonly string[];
  steps = 0;

  constructor(characters: readonly string[]) {
    this.characters = characters;
  }

  /** The first run is anchored at the start and the last at the end; each between them is matched as early as possible. */
  runs(runs: readonly (readonly One[])[]): boolean {
    const { length } = this.characters;
    const [first = [], last = []] = [runs[0], runs.at(-1)];
    if (runs.length === 1) return first.length === length && this.#isAt(first, 0);
    const end = length - last.length;
    if (!this.#isAt(first, 0) || !this.#isAt(last, end)) return false;
    let at = first.length;
    for (const run of runs.slice(1, -1)) {
      while (at + run.length <= end && !this.#isAt(run, at)) at++;
      at += run.length;
      if (at > end) return false;
    }
    return true;
  }

  #isAt(run: readonly One[], at: number): boolean {
    let next = at;
    for (const piece of run) {
      this.steps += piece.steps;
      if (!piece.matches(this.characters[next++] as string)) return false;
    }
    return true;
  }
}
