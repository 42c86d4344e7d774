// The reference for textual axes, independent of the core: it backtracks where the core simulates an automaton, and computes the
// guarded segments itself.

import type { Segment } from "../../src/core/authority/patterns/segment.ts";
import type { Sequence } from "../../src/core/authority/patterns/sequence.ts";
import { commandRisk, type Risk, riskOf, riskyCommands } from "../../src/core/authority/programs/risky.ts";

/** One segment against one text, character by character. */
export function naiveGlob(glob: string, text: string): boolean {
  if (glob === "") return text === "";
  if (glob[0] === STAR) return naiveGlob(glob.slice(1), text) || (text !== "" && naiveGlob(glob, text.slice(1)));
  return glob[0] === text[0] && text !== "" && naiveGlob(glob.slice(1), text.slice(1));
}

/** Replaces a star in a glob written as one text; no generator makes it. */
const STAR = "\u2605";

export function spellSegments(parts: readonly string[]): string {
  return parts.join(STAR);
}

function fits(segment: Segment, text: string, guarded: boolean): boolean {
  if (segment.kind === "literal") return segment.text === text;
  if (guarded) return false;
  return segment.kind === "one" || (segment.kind === "glob" && naiveGlob(spellSegments(segment.parts), text));
}

export function naiveSequence(pattern: Sequence, segments: readonly string[], guarded: readonly boolean[]): boolean {
  const known = new Map<number, boolean>();
  const from = (place: number, at: number): boolean => {
    const key = place * 10_000 + at;
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = work(place, at);
    known.set(key, found);
    return found;
  };
  const work = (place: number, at: number): boolean => {
    const segment = pattern[place];
    if (segment === undefined) return at === segments.length;
    if (segment.kind === "deep" || segment.kind === "rest") {
      if (from(place + 1, at)) return true;
      return at < segments.length && (segment.kind === "rest" || guarded[at] !== true) && from(place, at + 1);
    }
    return (
      at < segments.length && fits(segment, segments[at] as string, guarded[at] === true) && from(place + 1, at + 1)
    );
  };
  return from(0, 0);
}

/** The segments of a path that only a literal may match: those of the longest protected path at or above it. */
export function naivePathGuards(
  segments: readonly string[],
  protectedPaths: readonly (readonly string[])[],
): boolean[] {
  const here = `${segments.join("/")}/`;
  const depths = protectedPaths.filter((entry) => here.startsWith(`${entry.join("/")}/`)).map((entry) => entry.length);
  return segments.map((_, at) => at < Math.max(0, ...depths));
}

/** The words of a command that only a literal may match. The table is shared data; its interpretation is written again. */
export function naiveArgvGuards(argv: readonly string[]): boolean[] {
  const [program = "", ...words] = argv;
  const risks = [riskOf(program), ...naiveCommands(argv).map((command) => commandRisk(program, command))];
  return [false, ...words.map((token) => risks.some((risk) => isNaiveRisk(risk, token)))].slice(0, argv.length);
}

/** The words of a command that are sub-commands with risky options of their own. */
export function naiveCommands([program = "", ...words]: readonly string[]): readonly string[] {
  return riskyCommands(program).filter((command) => words.includes(command));
}

export function naiveRisky(program: string, token: string): boolean {
  return isNaiveRisk(riskOf(program.split("/").at(-1) as string), token);
}

function isNaiveRisk(risk: Risk | null, token: string): boolean {
  if (risk === null) return false;
  const [name = "", ...value] = token.split("=");
  if (risk.words.some((word) => word === name || (word.endsWith("*") && token.startsWith(word.slice(0, -1)))))
    return true;
  const dashes = /^-*/.exec(token)?.[0].length ?? 0;
  const letters = [...name.toLowerCase()].filter((letter) => letter !== "-" && letter !== "_").join("");
  const long = risk.words
    .filter((word) => /^-.*[^*-]{2}$/.test(word))
    .map((word) => word.replace(/-/g, "").toLowerCase());
  if (dashes === 0) return token.startsWith("+") ? risk.letters.includes("+") : risk.isAssigning && value.length > 0;
  if (dashes > 1) return letters !== "" && long.some((word) => word.startsWith(letters));
  if (long.some((word) => word === letters || (letters.length > 2 && word.startsWith(letters)))) return true;
  const bundle = [...token.slice(1)];
  const last = bundle.findIndex((letter) => risk.values.includes(letter));
  const read = last < 0 ? bundle : bundle.slice(0, last);
  return read.some((letter) => letter !== "+" && risk.letters.includes(letter));
}
