// Patterns of file names inside a script, `*`, `?` and `[...]`, against one name of a folder. Not our path patterns:
// these are what a shell's user writes, and they only ever choose among names that are there.
import { namePatternCharactersMax } from "../language/limits.ts";
import type { Word } from "../language/script.ts";
import { type One, type Piece, piecesOf } from "./name-pieces.ts";

/** A pattern that was read once, for all names that it is held against. */
export interface NamePattern {
  /** Whether it chooses this name in a folder: hidden names only if the pattern begins with their dot. */
  chooses(name: string): boolean;
  matches(name: string): boolean;
}

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

/** A pattern that is too long matches nothing. `count` is told how many steps every name took. */
export function namePattern(pattern: string, count: (steps: number) => void = () => undefined): NamePattern {
  const pieces = pattern.length > namePatternCharactersMax ? null : piecesOf([...pattern]);
  const runs = pieces === null ? [] : runsOf(pieces);
  const fewest = runs.reduce((sum, { length }) => sum + length, 0);
  const takesHidden = /^\\?\./.test(pattern);
  const matches = (name: string): boolean => {
    if (pieces === null) return false;
    const comparing = new Comparing([...name]);
    const isMatching = comparing.characters.length >= fewest && comparing.runs(runs);
    // Taking a name apart costs something as well, and far less than comparing it.
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

/** What stands between the stars: always one more than there are stars, and empty where two of them meet. */
function runsOf(pieces: readonly Piece[]): readonly (readonly One[])[] {
  const runs: One[][] = [[]];
  for (const piece of pieces) {
    if (piece.kind === "many") runs.push([]);
    else runs.at(-1)?.push(piece);
  }
  return runs;
}

/** One name against the runs of a pattern. */
class Comparing {
  readonly characters: readonly string[];
  steps = 0;

  constructor(characters: readonly string[]) {
    this.characters = characters;
  }

  /** The first run stands at the start and the last at the end; each between them is found as early as it can be. */
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
