// Dominating witnesses: for every value x a pattern matches there is a witness w such that whatever pattern of the
// other side matches w also matches x. So it is enough to ask about the witnesses, and a refused one is a
// counterexample. The argument holds because a reserved character is matched by stars alone, and because every
// grant is a positive combination of such memberships.

import { deepStarsMax, starsMax, witnessesMax } from "../../base/limits.ts";
import { guardArgv } from "../axes/argv.ts";
import { intersectGlobs } from "../patterns/intersect.ts";
import { ANY_TEXT } from "../patterns/reserved.ts";
import { globMatches, type Segment } from "../patterns/segment.ts";
import { deepSegments, isRun, type Segments, type Sequence, starSegments } from "../patterns/sequence.ts";
import { commandRisk, endsOptions, isRiskyOption, RISKY_PROGRAMS, riskOf, riskyCommands } from "../programs/risky.ts";

/** Past the caps nothing can be shown: the caller refuses. */
export const TOO_MANY = "too_many";

export type Guard = (segments: readonly string[]) => Segments;

/**
 * Each star becomes unknown text; each run of unknown length becomes 0 to `stars` + 1 unknown segments: a pattern with
 * fewer star segments than that can only match the longest of them with a run of its own, which then takes any length.
 */
export function sequenceWitnesses(
  pattern: Sequence,
  stars: number,
  guard: Guard,
): readonly Segments[] | typeof TOO_MANY {
  const runs = deepSegments(pattern);
  if (runs > deepStarsMax || starSegments(pattern) + runs > starsMax) return TOO_MANY;
  if ((stars + 2) ** runs > witnessesMax) return TOO_MANY;
  let lists: string[][] = [[]];
  for (const segment of pattern) {
    if (!isRun(segment)) for (const list of lists) list.push(segmentWitness(segment));
    else {
      const longer: string[][] = [];
      // The empty run last: a witness with something in it makes the better example.
      const copies = Array.from({ length: stars + 2 }, (_, at) => (at + 1) % (stars + 2));
      for (const list of lists) {
        for (const count of copies) longer.push([...list, ...new Array<string>(count).fill(ANY_TEXT)]);
      }
      lists = longer;
    }
  }
  const witnesses = lists.map(guard);
  const whole = guardedRest(pattern);
  return whole === null ? witnesses : [...witnesses, whole];
}

function segmentWitness(segment: Segment): string {
  switch (segment.kind) {
    case "literal":
      return segment.text;
    case "glob":
      return segment.parts.join(ANY_TEXT);
    case "one":
    case "deep":
    case "rest":
      return ANY_TEXT;
  }
}

/** A program named as a whole may be given its risky options: an option that no literal and no star matches. */
function guardedRest(pattern: Sequence): Segments | null {
  if (pattern[pattern.length - 1]?.kind !== "rest") return null;
  const segments = pattern.slice(0, -1).map(segmentWitness);
  if (segments[0] !== undefined && riskOf(segments[0]) === null) return null;
  return { segments: [...segments, ANY_TEXT], guarded: [...segments.map(() => false), true] };
}

/**
 * An unknown program has no risky options, a known one may: where the program is unknown and a later word would be
 * risky for some program, that program is a witness of its own. The same holds for an unknown sub-command.
 */
export function programVariants(witness: Segments): readonly (readonly string[])[] | typeof TOO_MANY {
  const [program, ...words] = witness.segments;
  if (program === undefined) return [];
  if (!program.includes(ANY_TEXT)) return commandVariants(program, words);
  const parts = program.split(ANY_TEXT);
  const variants: (readonly string[])[] = [];
  for (const name of RISKY_PROGRAMS) {
    const commands = commandVariants(name, words);
    if (commands.length === 0 && guardArgv([name, ...words]).guarded === null) continue;
    // A program carries the risk under its bare name and under any path that ends in it.
    for (const spelled of [[name], ["", `/${name}`]]) {
      const common = intersectGlobs(parts, spelled);
      if (common === null) return TOO_MANY;
      for (const one of common) {
        const text = one.join(ANY_TEXT);
        variants.push([text, ...words], ...commands.map(([, ...rest]) => [text, ...rest]));
      }
    }
  }
  return variants;
}

/**
 * Behind an unknown word `--` may end the options or be the value of one. The witness has it as a value, with options
 * behind it guarded; each `--` that may end them is a witness of its own.
 */
export function endVariants({ segments, guarded }: Segments): readonly Segments[] {
  const program = segments[0];
  if (guarded === null || program === undefined || !endsOptions(program)) return [];
  return segments.flatMap((text, end) => {
    if (text !== "--" || end < 2 || !(segments[end - 1] as string).includes(ANY_TEXT)) return [];
    return [{ segments, guarded: guarded.map((isGuarded, at) => isGuarded && at < end) }];
  });
}

/** One variant for each unknown word that may be a sub-command under which another word is risky. */
function commandVariants(program: string, words: readonly string[]): readonly (readonly string[])[] {
  const variants: (readonly string[])[] = [];
  for (const command of riskyCommands(program)) {
    const risk = commandRisk(program, command);
    if (risk === null || !words.some((word) => isRiskyOption(risk, word))) continue;
    for (const [at, word] of words.entries()) {
      if (!word.includes(ANY_TEXT) || !globMatches(word.split(ANY_TEXT), command)) continue;
      variants.push([program, ...words.with(at, command)]);
    }
  }
  return variants;
}
