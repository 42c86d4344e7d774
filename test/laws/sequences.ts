// Random patterns over lists of segments, of every textual axis.
import { DEEP, literal, ONE, REST, type Segment } from "../../src/core/authority/patterns/segment.ts";
import type { Sequence } from "../../src/core/authority/patterns/sequence.ts";
import * as alphabet from "./alphabet.ts";
import { chance, oneOf, type Source, several } from "./source.ts";

export type SequenceKind = "path" | "name" | "tool" | "host" | "argv";

type Globs = readonly (readonly string[])[];

function segment(source: Source, texts: readonly string[], globs: Globs): Segment {
  const roll = source.below(10);
  if (roll < 5) return literal(oneOf(source, texts));
  if (roll < 7) return ONE;
  return { kind: "glob", parts: oneOf(source, globs) };
}

/** Literals, stars, globs, and at most two deep stars. */
function mixed(source: Source, texts: readonly string[], globs: Globs, most: number, deepPercent: number): Segment[] {
  const list: Segment[] = [];
  let deep = 0;
  const length = source.below(most + 1);
  for (let at = 0; at < length; at++) {
    const run = deep < 2 && list[list.length - 1]?.kind !== "deep" && chance(source, deepPercent);
    if (run) deep++;
    list.push(run ? DEEP : segment(source, texts, globs));
  }
  if (deep < 2 && list[list.length - 1]?.kind !== "deep" && chance(source, 35)) list.push(DEEP);
  return list;
}

export function pathPattern(source: Source): Sequence {
  if (chance(source, 30)) {
    const protectedPath = oneOf(source, alphabet.PROTECTED).map(literal) as Segment[];
    const keep = protectedPath.slice(0, 1 + source.below(protectedPath.length));
    if (chance(source, 40))
      keep[source.below(keep.length)] = oneOf(source, [ONE, { kind: "glob", parts: ["", "s", ""] } as const]);
    return [...keep, ...mixed(source, alphabet.PATH_TEXTS, alphabet.PATH_GLOBS, 1, 20)];
  }
  return mixed(source, alphabet.PATH_TEXTS, alphabet.PATH_GLOBS, 4, 18);
}

export function namePattern(source: Source): Sequence {
  const list = mixed(source, alphabet.NAME_TEXTS, alphabet.NAME_GLOBS, 3, 18);
  return list.length === 0 ? [DEEP] : list;
}

export function toolPattern(source: Source): Sequence {
  const origin = oneOf<Segment>(source, [literal("builtin"), literal("tool"), ONE]);
  return [origin, ...namePattern(source)];
}

/** `x`, `*.x`, `+.x` and `*`. */
export function hostPattern(source: Source): Sequence {
  const labels = several(source, 1, 3, () => literal(oneOf(source, alphabet.LABELS)));
  return oneOf<Sequence>(source, [labels, [...labels, DEEP], [...labels, ONE, DEEP], [DEEP]]);
}

export function argvPattern(source: Source): Sequence {
  if (chance(source, 25)) return [literal(oneOf(source, alphabet.PROGRAMS)), REST];
  const roll = source.below(10);
  const program: Segment =
    roll < 6
      ? literal(oneOf(source, alphabet.PROGRAMS))
      : roll < 8
        ? ONE
        : { kind: "glob", parts: oneOf(source, alphabet.PROGRAM_GLOBS) };
  if (roll === 9 && chance(source, 30))
    return [DEEP, ...mixed(source, alphabet.TOKENS, alphabet.TOKEN_GLOBS, 2, 0).filter((one) => one.kind !== "deep")];
  return [program, ...mixed(source, alphabet.TOKENS, alphabet.TOKEN_GLOBS, 3, 15)];
}

export function pattern(source: Source, kind: SequenceKind): Sequence {
  switch (kind) {
    case "path":
      return pathPattern(source);
    case "name":
      return namePattern(source);
    case "tool":
      return toolPattern(source);
    case "host":
      return hostPattern(source);
    case "argv":
      return argvPattern(source);
  }
}
