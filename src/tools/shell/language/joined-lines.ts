// Joins lines that end in a backslash before anything is parsed: `$` and `(` on two such lines are `$(` to a shell, so
// they must be `$(` here.
import type { Range } from "../../../core/notation/source.ts";

export interface JoinedLines {
  readonly text: string;
  /** Whether any lines were joined. */
  readonly isChanged: boolean;
  /** Maps a range of the joined text to the original text. */
  readonly given: (range: Range) => Range;
}

export function joinLines(text: string): JoinedLines {
  const cuts = continuations(text);
  if (cuts.length === 0) return { text, isChanged: false, given: (range) => range };
  const pieces = cuts.map((cut, at) => text.slice(at === 0 ? 0 : (cuts[at - 1] as number) + 2, cut));
  pieces.push(text.slice((cuts[cuts.length - 1] as number) + 2));
  const given = (offset: number): number => offset + 2 * cutsBefore(cuts, offset);
  return {
    text: pieces.join(""),
    isChanged: true,
    // The end is that of the last character, so that a join after it is not included.
    given: ({ start, end }) => ({ start: given(start), end: end > start ? given(end - 1) + 1 : given(start) }),
  };
}

/** Offsets of a backslash and a newline that are not in single quotes. An escaped backslash does not count. */
function continuations(text: string): readonly number[] {
  const found: number[] = [];
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "\\" && quote !== "'") {
      if (text[at + 1] === "\n") found.push(at);
      at++;
    } else if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === "'" || character === '"') quote = character;
  }
  return found;
}

/** How many joins precede a character of the joined text: join number n is n pairs further in the original text. */
function cutsBefore(cuts: readonly number[], offset: number): number {
  let [low, high] = [0, cuts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cuts[middle] as number) - 2 * middle <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
