// The oracle's alphabet: all texts fall into finitely many classes that the given literals, globs and risky options can
// distinguish. A walk over the product of their character automata finds one text of each class.

import type { Segment } from "../../src/core/authority/patterns/segment.ts";
import { RISKY_PROGRAMS, type Risk } from "../../src/core/authority/programs/risky.ts";
import { PROGRAM_GLOBS, PROGRAMS, TOKEN_GLOBS, TOKENS } from "./alphabet.ts";

/** A character that occurs nowhere else. */
const OTHER = "\u00b5";

export interface TextClass {
  /** The same for the same class of the same query. */
  readonly key: string;
  /** The globs that match it, as bits in query order. */
  readonly bits: number;
  /** A shortest text of the class. */
  readonly text: string;
  /** The literal it equals, if it is one of the query's. */
  readonly literal: string | null;
  /** The globs that match it, by their spelling. */
  readonly globs: ReadonlySet<string>;
  readonly risky: boolean;
  /** For programs: its entry in the table of risky options. */
  readonly program: string | null;
}

interface Question {
  readonly literals: readonly string[];
  readonly globs: readonly (readonly string[])[];
  readonly risk: Risk | null;
  readonly programs: readonly string[];
}

const cache = new Map<string, readonly TextClass[]>();

/** The alphabet's patterns are explored once, and narrowed to those of each case. */
const UNIVERSE: Pick<Question, "literals" | "globs"> = {
  literals: [...new Set([...PROGRAMS, ...TOKENS])].sort(),
  globs: [...PROGRAM_GLOBS, ...TOKEN_GLOBS],
};
const UNIVERSE_LITERALS: ReadonlySet<string> = new Set(UNIVERSE.literals);
const UNIVERSE_GLOBS: ReadonlySet<string> = new Set(UNIVERSE.globs.map(globKey));

export function textClasses(question: Question): readonly TextClass[] {
  const { literals, globs, programs, risk } = question;
  const small = risk === null && programs.length === 0;
  const known =
    literals.every((text) => UNIVERSE_LITERALS.has(text)) && globs.every((parts) => UNIVERSE_GLOBS.has(globKey(parts)));
  if (small || !known) return explored(question);
  const { literals: words, globs: spelled } = UNIVERSE;
  const askedLiterals = words.map((word) => literals.includes(word));
  const asked = new Set(globs.map(globKey));
  const mask = spelled.reduce((bits, parts, at) => (asked.has(globKey(parts)) ? bits | (1 << at) : bits), 0);
  const named = programs.length === 0 ? null : new Set(programs);
  const classes = new Map<number, TextClass>();
  for (const { one, literal, program } of universe(risk, named !== null)) {
    const bits = one.bits & mask;
    const kept = literal >= 0 && askedLiterals[literal] === true ? literal + 1 : 0;
    const held = one.program !== null && named?.has(one.program) === true ? program + 1 : 0;
    const key = ((held * 64 + kept) * 2 + (one.risky ? 1 : 0)) * 2 ** 20 + bits;
    if (classes.has(key)) continue;
    const matched = new Set([...one.globs].filter((glob) => asked.has(glob)));
    classes.set(key, {
      ...one,
      key: String(key),
      bits,
      literal: kept === 0 ? null : one.literal,
      program: held === 0 ? null : one.program,
      globs: matched,
    });
  }
  return [...classes.values()];
}

interface Numbered {
  readonly one: TextClass;
  readonly literal: number;
  readonly program: number;
}

const universes = new Map<string, readonly Numbered[]>();

function universe(risk: Risk | null, programs: boolean): readonly Numbered[] {
  const key = risk === null ? String(programs) : `${risk.words.join(" ")}:${risk.letters}`;
  let found = universes.get(key);
  if (found === undefined) {
    found = explore({ ...UNIVERSE, risk, programs: programs ? RISKY_PROGRAMS : [] }).map((one) => ({
      one,
      literal: one.literal === null ? -1 : UNIVERSE.literals.indexOf(one.literal),
      program: one.program === null ? -1 : RISKY_PROGRAMS.indexOf(one.program),
    }));
    universes.set(key, found);
  }
  return found;
}

function explored(question: Question): readonly TextClass[] {
  const { literals, globs, risk, programs } = question;
  const key = `${JSON.stringify([literals, globs, programs])}${risk?.words.join(" ")}:${risk?.letters}`;
  let found = cache.get(key);
  if (found === undefined) {
    if (cache.size > 20_000) cache.clear();
    found = explore(question);
    cache.set(key, found);
  }
  return found;
}

/** The literals and globs of some segments, each once. */
export function materialOf(segments: readonly Segment[]): Pick<Question, "literals" | "globs"> {
  const literals = new Set<string>();
  const globs = new Map<string, readonly string[]>();
  for (const segment of segments) {
    if (segment.kind === "literal") literals.add(segment.text);
    if (segment.kind === "glob") globs.set(globKey(segment.parts), segment.parts);
  }
  return {
    literals: [...literals].sort(),
    globs: [...globs.keys()].sort().map((key) => globs.get(key) as readonly string[]),
  };
}

/** Stars become a character that no generator makes. */
export function globKey(parts: readonly string[]): string {
  return parts.join("\u2605");
}

/** Programs whose options could matter: those for which some word is risky, and those a pattern names. */
export function programsAtHand(
  words: readonly string[],
  spelled: readonly string[],
  risky: (program: string, word: string) => boolean,
): readonly string[] {
  const chosen = new Set(words.flatMap((word) => programsAt(word, risky)));
  return RISKY_PROGRAMS.filter((name) => chosen.has(name) || spelled.some((text) => text.includes(name)));
}

const byWord = new Map<string, readonly string[]>();

function programsAt(word: string, risky: (program: string, word: string) => boolean): readonly string[] {
  let found = byWord.get(word);
  if (found === undefined) {
    found = RISKY_PROGRAMS.filter((name) => risky(name, word));
    byWord.set(word, found);
  }
  return found;
}

/** A trie of words as an automaton that is in one state at a time, or none. */
class Words {
  readonly #next: Map<string, number>[] = [new Map()];
  readonly #end = new Map<number, string>();

  constructor(words: Iterable<string>) {
    for (const word of words) {
      let place = 0;
      for (const character of word) {
        const known = (this.#next[place] as Map<string, number>).get(character);
        if (known === undefined) {
          this.#next.push(new Map());
          (this.#next[place] as Map<string, number>).set(character, this.#next.length - 1);
        }
        place = known ?? this.#next.length - 1;
      }
      this.#end.set(place, word);
    }
  }

  step(place: number, character: string): number {
    return place < 0 ? -1 : (this.#next[place]?.get(character) ?? -1);
  }

  wordAt(place: number): string | null {
    return this.#end.get(place) ?? null;
  }
}

/** The set of states a glob can be in, as bits; a star stays in its state. */
class GlobBits {
  readonly #items: readonly (string | null)[];
  readonly start: number;

  constructor(parts: readonly string[]) {
    this.#items = parts.flatMap((part, at) => (at === 0 ? [...part] : [null, ...part]));
    this.start = this.#close(1);
  }

  #close(bits: number): number {
    let all = bits;
    for (const [at, item] of this.#items.entries()) if (item === null && all & (1 << at)) all |= 1 << (at + 1);
    return all;
  }

  step(bits: number, character: string): number {
    let next = 0;
    for (const [at, item] of this.#items.entries()) {
      if (!(bits & (1 << at))) continue;
      if (item === null) next |= 1 << at;
      else if (item === character) next |= 1 << (at + 1);
    }
    return this.#close(next);
  }

  accepts(bits: number): boolean {
    return (bits & (1 << this.#items.length)) !== 0;
  }
}

/** Risky options as an automaton: names with an optional value, glued values, and letters behind a single dash. */
class RiskWalk {
  readonly #names: Words;
  readonly #glued: Words;
  readonly #long: Words;
  readonly #short: Words;
  readonly #risk: Risk;

  constructor(risk: Risk) {
    const { words, long } = risk;
    this.#names = new Words(words);
    this.#glued = new Words(words.filter((word) => word.endsWith("*")).map((word) => word.slice(0, -1)));
    this.#long = new Words([
      ...long,
      ...long.flatMap((word) => Array.from(word, (_, at) => word.slice(0, at + 1))).filter((word) => word.length > 2),
    ]);
    this.#short = new Words(long.flatMap((word) => Array.from(word, (_, at) => word.slice(0, at + 1))));
    this.#risk = risk;
  }

  /**
   * risky already | where among the names | among the glued | among the plain names | among their beginnings |
   * none yet, one dash, a bundle, no option, two dashes, the value of a letter | a name still
   */
  readonly start = [0, 0, 0, 0, 0, 0, 1];

  step(
    [risky = 0, name = 0, glued = 0, long = 0, short = 0, dashes = 0, isName = 0]: readonly number[],
    character: string,
  ): number[] {
    const { letters, values, isAssigning } = this.#risk;
    const nextGlued = this.#glued.step(glued, character);
    let next = dashes;
    if (dashes === 0) next = character === "-" ? 1 : 3;
    else if (dashes === 1) next = character === "-" ? 4 : 2;
    const now =
      (character === "=" && isName === 1 && this.#isNamed(name, long, short, dashes)) ||
      this.#glued.wordAt(nextGlued) !== null ||
      (dashes === 0 && character === "+" && letters.includes("+")) ||
      (character === "=" && isAssigning && next === 3) ||
      (next === 2 && character !== "+" && letters.includes(character));
    if (next === 2 && values.includes(character)) next = 5;
    const isPlain = character === "-" || character === "_";
    const letter = character.toLowerCase();
    return [
      risky || now ? 1 : 0,
      this.#names.step(name, character),
      nextGlued,
      isPlain ? long : this.#long.step(long, letter),
      isPlain ? short : this.#short.step(short, letter),
      next,
      isName === 1 && character !== "=" ? 1 : 0,
    ];
  }

  #isNamed(name: number, long: number, short: number, dashes: number): boolean {
    if (this.#names.wordAt(name) !== null) return true;
    if (dashes === 4) return this.#short.wordAt(short) !== null;
    return (dashes === 2 || dashes === 5) && this.#long.wordAt(long) !== null;
  }

  risky([risky = 0, name = 0, , long = 0, short = 0, dashes = 0, isName = 0]: readonly number[]): boolean {
    return risky === 1 || (isName === 1 && this.#isNamed(name, long, short, dashes));
  }
}

interface State {
  readonly text: string;
  readonly literal: number;
  readonly globs: readonly number[];
  readonly risk: readonly number[];
  /** The state among the program names, counted from the last slash. */
  readonly program: number;
}

function explore({ literals, globs, risk, programs }: Question): readonly TextClass[] {
  const words = new Words(literals);
  const bits = globs.map((parts) => new GlobBits(parts));
  const walk = risk === null ? null : new RiskWalk(risk);
  const names = new Words(programs);
  const written = [
    ...literals,
    ...globs.flat(),
    ...(risk?.words ?? []),
    risk?.letters ?? "",
    risk?.values ?? "",
    ...programs,
    "-_=+/",
    OTHER,
  ].join("");
  const characters = [...new Set(written)];
  const states: State[] = [
    { text: "", literal: 0, globs: bits.map((glob) => glob.start), risk: walk?.start ?? [], program: 0 },
  ];
  const seen = new Set<string>([keyOf(states[0] as State)]);
  const classes = new Map<string, TextClass>();
  for (const state of states) {
    const literal = words.wordAt(state.literal);
    const risky = walk?.risky(state.risk) ?? false;
    const program = names.wordAt(state.program);
    const accepted = bits.reduce(
      (all, glob, at) => (glob.accepts(state.globs[at] as number) ? all | (1 << at) : all),
      0,
    );
    const key = `${literal === null ? "" : `=${literal}`}|${accepted}|${risky}|${program}`;
    if (!classes.has(key)) {
      const matched = new Set(globs.filter((_, at) => accepted & (1 << at)).map(globKey));
      classes.set(key, { key, bits: accepted, text: state.text, literal, globs: matched, risky, program });
    }
    for (const character of characters) {
      const next: State = {
        text: state.text + character,
        literal: words.step(state.literal, character),
        globs: bits.map((glob, at) => glob.step(state.globs[at] as number, character)),
        risk: walk?.step(state.risk, character) ?? [],
        program: programs.length === 0 ? -1 : character === "/" ? 0 : names.step(state.program, character),
      };
      const nextKey = keyOf(next);
      if (seen.has(nextKey)) continue;
      seen.add(nextKey);
      states.push(next);
    }
  }
  return [...classes.values()];
}

function keyOf({ literal, globs, risk, program }: State): string {
  return `${literal}|${globs.join()}|${risk.join()}|${program}`;
}
