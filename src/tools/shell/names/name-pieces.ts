// Parses a file-name pattern: stars, and pieces that match one character.

export type Piece =
  | {
      readonly kind: "one";
      readonly matches: (character: string) => boolean;
      /** The cost of matching it: one, and one more for each member of a bracket. */
      readonly steps: number;
    }
  /** Any number of characters. */
  | { readonly kind: "many" };

export type One = Extract<Piece, { readonly kind: "one" }>;

export function piecesOf(pattern: readonly string[]): readonly Piece[] {
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
    else if (character === "?") pieces.push({ kind: "one", matches: () => true, steps: 1 });
    else {
      const literal = character === "\\" && at + 1 < pattern.length ? (pattern[++at] as string) : character;
      pieces.push({ kind: "one", matches: (other) => other === literal, steps: 1 });
    }
    at++;
  }
  return pieces;
}

interface Bracket {
  readonly piece: Piece;
  readonly end: number;
}

/** `[abc]`, `[a-c]`, `[!abc]`, `[[:digit:]]`. A leading `]` is a member. Null: unterminated, so not a bracket. */
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
  return { piece: { kind: "one", matches, steps: 1 + tests.length }, end: at + 1 };
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

/** A class by its name, ASCII only. An unknown class has no members. */
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
