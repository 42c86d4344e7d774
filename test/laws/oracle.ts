// The automata oracle: which sets of patterns can be matched by one value? A walk over the product of the patterns' automata
// (subset construction, on the fly, over a finite symbolic alphabet) lists them all, with an example each. Inclusion of unions,
// on one axis or several, follows from the lists alone. No witness, no reserved character.

import type { Segment } from "../../src/core/authority/patterns/segment.ts";
import type { Sequence } from "../../src/core/authority/patterns/sequence.ts";
import { riskOf } from "../../src/core/authority/programs/risky.ts";
import { naiveRisky } from "./naive-text.ts";
import { globKey, materialOf, programsAtHand, type TextClass, textClasses } from "./oracle-text.ts";
import type { SequenceKind } from "./sequences.ts";

/** The patterns (as bits) that one value matches. */
export interface Meeting {
  readonly bits: number;
  readonly example: readonly string[];
}

export class OracleTooLarge extends Error {}

const statesMax = 60_000;

/** A value of this kind has at least this many segments. */
export const SEGMENTS_LEAST: Readonly<Record<SequenceKind, number>> = { path: 0, name: 1, tool: 2, host: 1, argv: 1 };

/** All matches that include a needed pattern. */
export function meetings(
  kind: SequenceKind,
  patterns: readonly Sequence[],
  needed: number,
  protectedPaths: readonly (readonly string[])[],
): readonly Meeting[] {
  if (patterns.length > 30) throw new OracleTooLarge("more than thirty patterns");
  const found = new Map<number, Meeting>();
  const walk = new Walk(patterns, needed, found, SEGMENTS_LEAST[kind]);
  if (kind === "argv") argvMeetings(walk, patterns);
  else if (kind === "path") pathMeetings(walk, patterns, protectedPaths);
  else walk.run(walk.start(), [], textClasses({ ...materialOf(patterns.flat()), risk: null, programs: [] }), null);
  return [...found.values()];
}

/** A path is at or below one protected path, the longest that fits, or none: one walk for each. */
function pathMeetings(walk: Walk, patterns: readonly Sequence[], protectedPaths: readonly (readonly string[])[]): void {
  const { literals, globs } = materialOf(patterns.flat());
  const classes = textClasses({
    literals: [...new Set([...literals, ...protectedPaths.flat()])].sort(),
    globs,
    risk: null,
    programs: [],
  });
  const classOf = (text: string): TextClass => classes.find((one) => one.literal === text) as TextClass;
  for (const entry of [[], ...protectedPaths]) {
    let state = walk.start();
    for (const text of entry) state = walk.step(state, { ...classOf(text), risky: true });
    const deeper = protectedPaths
      .filter((other) => other.length > entry.length && entry.every((text, at) => other[at] === text))
      .map((other) => other.slice(entry.length));
    walk.run(state, entry, classes, deeper);
  }
}

/** The program decides which words are risky: one walk for each class of programs. */
function argvMeetings(walk: Walk, patterns: readonly Sequence[]): void {
  const first = materialOf(patterns.flatMap(firstSegments));
  const all = materialOf(patterns.flat());
  const programs = programsAtHand(all.literals, [...first.literals, ...first.globs.flat()], naiveRisky);
  const done = new Set<string>();
  for (const program of textClasses({ ...first, risk: null, programs })) {
    const risk = program.program === null ? null : riskOf(program.program);
    const words = textClasses({ ...all, risk, programs: [] });
    const state = walk.step(walk.start(), program);
    // Two programs that are the same to every pattern and give the same classes of words need one walk.
    const key = `${state.join()};${words
      .map((word) => word.key)
      .sort()
      .join(" ")}`;
    if (!done.has(key)) walk.run(state, [program.text], words, null);
    done.add(key);
  }
}

/** The segments that can be the program. */
function firstSegments(pattern: Sequence): readonly Segment[] {
  const end = pattern.findIndex((segment) => segment.kind !== "deep" && segment.kind !== "rest");
  return end < 0 ? [] : [pattern[end] as Segment];
}

type State = readonly number[];

class Walk {
  readonly #patterns: readonly Sequence[];
  readonly #needed: number;
  readonly #found: Map<number, Meeting>;
  readonly #least: number;

  constructor(patterns: readonly Sequence[], needed: number, found: Map<number, Meeting>, least: number) {
    this.#patterns = patterns;
    this.#needed = needed;
    this.#found = found;
    this.#least = least;
  }

  start(): State {
    return this.#patterns.map((pattern) => close(pattern, 1));
  }

  step(state: State, symbol: TextClass): State {
    return this.#patterns.map((pattern, index) => {
      const here = state[index] as number;
      if (here === 0) return 0;
      let next = 0;
      for (const [place, segment] of pattern.entries()) {
        if (!(here & (1 << place))) continue;
        if (segment.kind === "rest" || (segment.kind === "deep" && !symbol.risky)) next |= 1 << place;
        else if (segment.kind !== "deep" && takes(segment, symbol)) next |= 1 << (place + 1);
      }
      return close(pattern, next);
    });
  }

  /** `deeper`: continuations that belong to another walk, because they make the path protected further down. */
  run(
    from: State,
    prefix: readonly string[],
    symbols: readonly TextClass[],
    deeper: readonly (readonly string[])[] | null,
  ): void {
    const seen = new Set<string>();
    const queue: {
      readonly state: State;
      readonly text: readonly string[];
      readonly deeper: readonly (readonly string[])[];
    }[] = [{ state: from, text: prefix, deeper: deeper ?? [] }];
    for (const one of queue) {
      const length = Math.min(one.text.length, this.#least);
      const key = `${length};${one.state.join()};${one.deeper.map((list) => list.join("/")).join()}`;
      if (seen.has(key)) continue;
      seen.add(key);
      if (seen.size > statesMax) throw new OracleTooLarge("too many states");
      const alive = one.state.reduce((bits, places, index) => (places === 0 ? bits : bits | (1 << index)), 0);
      if ((alive & this.#needed) === 0) continue;
      if (one.text.length >= this.#least) this.#record(one.state, one.text);
      for (const symbol of symbols) {
        const further = one.deeper.filter((list) => list[0] === symbol.literal).map((list) => list.slice(1));
        if (further.some((list) => list.length === 0)) continue;
        queue.push({ state: this.step(one.state, symbol), text: [...one.text, symbol.text], deeper: further });
      }
    }
  }

  #record(state: State, example: readonly string[]): void {
    const bits = state.reduce(
      (all, places, index) => (places & (1 << (this.#patterns[index] as Sequence).length) ? all | (1 << index) : all),
      0,
    );
    if ((bits & this.#needed) !== 0 && !this.#found.has(bits)) this.#found.set(bits, { bits, example });
  }
}

function takes(segment: Segment, symbol: TextClass): boolean {
  switch (segment.kind) {
    case "literal":
      return segment.text === symbol.literal;
    case "glob":
      return !symbol.risky && symbol.globs.has(globKey(segment.parts));
    case "one":
      return !symbol.risky;
    case "deep":
    case "rest":
      return false;
  }
}

function close(pattern: Sequence, places: number): number {
  let all = places;
  for (const [place, segment] of pattern.entries()) {
    if ((segment.kind === "deep" || segment.kind === "rest") && all & (1 << place)) all |= 1 << (place + 1);
  }
  return all;
}
