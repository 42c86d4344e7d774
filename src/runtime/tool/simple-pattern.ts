// Regular expressions without catastrophic cost: from `^` to `$` a sequence of characters and classes, each with a count. No
// groups, no alternatives, no lookaround. Matched by simulating all states at once, so cost is pattern x text.
import { done, type Result, refuse } from "../../core/base/result.ts";

interface Piece {
  readonly matches: (code: number) => boolean;
  readonly least: number;
  /** Infinity without an upper count. */
  readonly most: number;
}

export type SimplePattern = (text: string) => boolean;

const patternCharactersMax = 512;
const countMax = 1000;
/** Steps of all counts together. */
const stepsMax = 4096;

export function parseSimplePattern(text: string): Result<SimplePattern> {
  if (text.length > patternCharactersMax)
    return refuse("too_long", `a pattern has at most ${patternCharactersMax} characters`);
  if (!text.startsWith("^") || !text.endsWith("$") || text.endsWith("\\$") || text.length < 2) return unread(text);
  const inner = [...text.slice(1, -1)];
  const pieces: Piece[] = [];
  for (let at = 0; at < inner.length; ) {
    const one = inner[at] === "[" ? readClass(inner, at) : readCharacter(inner, at);
    if (one === null) return unread(text);
    const count = readCount(inner, one.end);
    if (count === null) return unread(text);
    pieces.push({ matches: one.matches, least: count.least, most: count.most });
    at = count.end;
  }
  const steps = pieces.reduce(
    (sum, { least, most }) => sum + (most === Number.POSITIVE_INFINITY ? least + 1 : most),
    0,
  );
  if (steps > stepsMax) return refuse("too_long", "the counts of the pattern are too large together");
  return done((value) => follows(pieces.flatMap(unrolled), value));
}

function unread(text: string): Result<never> {
  return refuse(
    "bad_pattern",
    `${JSON.stringify(text)}: a pattern must start with ^ and end with $, and can have characters, classes and counts, but no groups`,
    "^[a-z][a-z0-9-]{0,62}$",
  );
}

type Matcher = (code: number) => boolean;

const CLASSES: ReadonlyMap<string, Matcher> = new Map([
  ["d", (code: number) => code >= 48 && code <= 57],
  ["w", isWord],
  ["s", (code: number) => code === 32 || (code >= 9 && code <= 13)],
]);

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
}

function readCharacter(
  text: readonly string[],
  at: number,
): { readonly matches: Matcher; readonly end: number } | null {
  const character = text[at] as string;
  if (character === "\\") {
    const escaped = escapedAt(text, at + 1);
    return escaped === null ? null : { matches: escaped.matches, end: at + 2 };
  }
  if (character === ".") return { matches: (code) => code !== 10 && code !== 13, end: at + 1 };
  if ("^$*+?()[]{}|".includes(character)) return null;
  return { matches: same(character), end: at + 1 };
}

/** A class by its letter, or an escaped punctuation character. Other letters are unsupported escapes. */
function escapedAt(
  text: readonly string[],
  at: number,
): { readonly matches: Matcher; readonly sign: string | null } | null {
  const character = text[at];
  if (character === undefined) return null;
  const known = CLASSES.get(character);
  if (known !== undefined) return { matches: known, sign: null };
  return /^[A-Za-z0-9]$/.test(character) ? null : { matches: same(character), sign: character };
}

function same(character: string): Matcher {
  const wanted = character.codePointAt(0);
  return (code) => code === wanted;
}

function readClass(text: readonly string[], start: number): { readonly matches: Matcher; readonly end: number } | null {
  const isNegated = text[start + 1] === "^";
  const members: Matcher[] = [];
  let at = start + (isNegated ? 2 : 1);
  for (; at < text.length && text[at] !== "]"; ) {
    const first = memberAt(text, at);
    if (first === null) return null;
    at = first.end;
    if (text[at] === "-" && text[at + 1] !== "]" && text[at + 1] !== undefined) {
      const last = memberAt(text, at + 1);
      const [low, high] = [first.sign?.codePointAt(0), last?.sign?.codePointAt(0)];
      if (last === null || low === undefined || high === undefined || low > high) return null;
      members.push((code) => code >= low && code <= high);
      at = last.end;
    } else members.push(first.matches);
  }
  if (text[at] !== "]" || members.length === 0) return null;
  const matches: Matcher = (code) => members.some((member) => member(code)) !== isNegated;
  return { matches, end: at + 1 };
}

function memberAt(
  text: readonly string[],
  at: number,
): { readonly matches: Matcher; readonly sign: string | null; readonly end: number } | null {
  const character = text[at];
  if (character === undefined || character === "[") return null;
  if (character !== "\\") return { matches: same(character), sign: character, end: at + 1 };
  const escaped = escapedAt(text, at + 1);
  return escaped === null ? null : { ...escaped, end: at + 2 };
}

function readCount(text: readonly string[], at: number): (Omit<Piece, "matches"> & { readonly end: number }) | null {
  const sign = text[at];
  if (sign === "?") return { least: 0, most: 1, end: at + 1 };
  if (sign === "*") return { least: 0, most: Number.POSITIVE_INFINITY, end: at + 1 };
  if (sign === "+") return { least: 1, most: Number.POSITIVE_INFINITY, end: at + 1 };
  if (sign !== "{") return { least: 1, most: 1, end: at };
  const end = text.indexOf("}", at);
  const match = end < 0 ? null : /^(\d{1,4})(?:(,)(\d{1,4})?)?$/.exec(text.slice(at + 1, end).join(""));
  if (match === null) return null;
  const least = Number(match[1]);
  const most = match[2] === undefined ? least : match[3] === undefined ? Number.POSITIVE_INFINITY : Number(match[3]);
  if (least > countMax || (most !== Number.POSITIVE_INFINITY && most > countMax) || most < least) return null;
  return { least, most, end: end + 1 };
}

interface Step {
  readonly matches: Matcher;
  readonly kind: "once" | "maybe" | "any";
}

function unrolled({ matches, least, most }: Piece): readonly Step[] {
  const steps: Step[] = Array.from({ length: least }, () => ({ matches, kind: "once" }));
  if (most === Number.POSITIVE_INFINITY) steps.push({ matches, kind: "any" });
  else for (let count = least; count < most; count++) steps.push({ matches, kind: "maybe" });
  return steps;
}

function follows(steps: readonly Step[], text: string): boolean {
  let states = withSkips(new Uint8Array(steps.length + 1), steps, 0);
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    const next = new Uint8Array(steps.length + 1);
    let isAlive = false;
    for (let state = 0; state < steps.length; state++) {
      const step = steps[state] as Step;
      if (states[state] !== 1 || !step.matches(code)) continue;
      isAlive = true;
      withSkips(next, steps, step.kind === "any" ? state : state + 1);
    }
    if (!isAlive) return false;
    states = next;
  }
  return states[steps.length] === 1;
}

/** Epsilon closure: a state and the states it reaches without input. Stops at visited states: cost stays |steps| per character. */
function withSkips(states: Uint8Array, steps: readonly Step[], from: number): Uint8Array {
  for (let state = from; states[state] !== 1; state++) {
    states[state] = 1;
    if (state >= steps.length || steps[state]?.kind === "once") break;
  }
  return states;
}
