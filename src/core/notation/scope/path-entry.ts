// One entry of `paths`, read below a root and printed relative to it.
import { type PathSettings, parsePathPatterns, pathPatternText } from "../../authority/axes/path.ts";
import { segmentText } from "../../authority/patterns/segment.ts";
import { type Sequence, sequenceText } from "../../authority/patterns/sequence.ts";
import { type Result, refuse } from "../../base/result.ts";

/** An entry that leaves the root is refused. So is one that, through `~`, holds a name no pattern can spell. */
export function readPathEntry(
  text: string,
  root: readonly string[],
  pathSettings: PathSettings,
): Result<readonly Sequence[]> {
  const patterns = parsePathPatterns(text, root, pathSettings);
  if (!patterns.ok || patterns.value.every((pattern) => hasSpelling(pattern.slice(root.length)))) return patterns;
  return unspelled(text);
}

/** A pattern that stands without a root of its own, as in `args`: relative to the hoisted root, or absolute. */
export function readFreePath(
  text: string,
  root: readonly string[] | null,
  pathSettings: PathSettings,
): Result<readonly Sequence[]> {
  const isFree = text.startsWith("/") || text === "~" || text.startsWith("~/");
  const from = isFree ? [] : root;
  if (from === null)
    return refuse("not_absolute", `${JSON.stringify(text)} is relative, and there is no root to resolve it against`);
  const patterns = parsePathPatterns(text, from, pathSettings);
  return patterns.ok && !patterns.value.every(hasSpelling) ? unspelled(text) : patterns;
}

export function pathEntryText(pattern: Sequence, root: readonly string[]): string {
  if (pattern.length === root.length) return ".";
  const text = sequenceText(pattern.slice(root.length), "/");
  return /^[!~]/.test(text) ? `./${text}` : text;
}

export function freePathText(pattern: Sequence): string {
  return pathPatternText(pattern);
}

/** INVARIANT: what is read can be printed and read again. Folders named `a{b` exist; patterns cannot name them. */
function hasSpelling(pattern: Sequence): boolean {
  return pattern.every(
    (segment) => !/[?[\]{}]/.test(segmentText(segment)) && (segment.kind !== "literal" || !segment.text.includes("*")),
  );
}

function unspelled(text: string): Result<readonly Sequence[]> {
  return refuse("bad_pattern", `${JSON.stringify(text)} contains a folder whose name cannot be written as a pattern`);
}
