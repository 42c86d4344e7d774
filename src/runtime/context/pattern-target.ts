// The folder that a path pattern can match in: all that a search for it needs to read.
import { type PathSettings, parsePath, parsePathPatterns, pathText } from "../../core/authority/axes/path.ts";
import type { Segments, Sequence } from "../../core/authority/patterns/sequence.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";

export interface PatternTarget {
  readonly patterns: readonly Sequence[];
  /** The folder that contains everything the patterns can match: all that such a call needs to read. */
  readonly start: Segments;
}

/** A pattern below a folder; one that leaves it is refused. */
export function parsePatternTarget(pattern: string, root: Segments, pathSettings: PathSettings): Result<PatternTarget> {
  const patterns = parsePathPatterns(pattern, root.segments, { home: null, base: null, protectedPaths: [] });
  if (!patterns.ok) return patterns;
  const start = literalStart(patterns.value);
  if (start.length < root.segments.length) return refuse("escapes_root", "the pattern is outside its folder");
  const place = parsePath(pathText(start), pathSettings);
  return place.ok ? done({ patterns: patterns.value, start: place.value }) : place;
}

/** The last name is a file's, and never the start folder. */
function literalStart(patterns: readonly Sequence[]): readonly string[] {
  const [first = [], ...others] = patterns.map((pattern) => {
    const star = pattern.findIndex((segment) => segment.kind !== "literal");
    const plain = pattern.slice(0, star < 0 ? Math.max(0, pattern.length - 1) : star);
    return plain.map((segment) => (segment.kind === "literal" ? segment.text : ""));
  });
  const shared = first.findIndex((name, at) => others.some((other) => other[at] !== name));
  return shared < 0 ? first : first.slice(0, shared);
}
