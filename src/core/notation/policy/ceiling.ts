// The outer root over imported paths: what lies outside is left out, what reaches beyond is cut to it.

import { pathPatternText, pathText, tree } from "../../authority/axes/path.ts";
import type { Span } from "../../authority/grant.ts";
import { intersectSequences } from "../../authority/patterns/intersect.ts";
import type { Sequence } from "../../authority/patterns/sequence.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { isAtOrBelow } from "../record/hoist.ts";

/** The segments before the first star. */
export function literalPrefix(pattern: Sequence): readonly string[] {
  const prefix: string[] = [];
  for (const segment of pattern) {
    if (segment.kind === "literal") prefix.push(segment.text);
    else if (segment.kind === "glob" && segment.parts.length === 1) prefix.push(segment.parts[0] as string);
    else break;
  }
  return prefix;
}

/** INVARIANT: every pattern returned lies in the ceiling and in the pattern it came from. */
export function cutToCeiling(
  patterns: readonly Sequence[],
  ceiling: readonly string[] | null,
  diagnostics: Diagnostics,
  span: Span,
): readonly Sequence[] {
  if (ceiling === null) return patterns;
  return patterns.flatMap((pattern) => {
    if (isAtOrBelow(literalPrefix(pattern), ceiling)) return [pattern];
    const inside = intersectSequences(pattern, tree(ceiling), true) ?? [];
    const shown = pathPatternText(pattern);
    if (inside.length === 0) diagnostics.warning("inert", span, `${shown} is outside the ceiling ${pathText(ceiling)}`);
    else
      diagnostics.warning(
        "clamped",
        span,
        `${shown} extends beyond the ceiling ${pathText(ceiling)} and is reduced to it`,
      );
    return inside;
  });
}
