// Patterns over lists of segments. Paths, host names, argument vectors, names and tools are all such lists,
// so there is one matcher, one meet and one witness argument for every textual axis.
import { type Segment, segmentMatches, segmentText } from "./segment.ts";

export type Sequence = readonly Segment[];

/**
 * A concrete value of a textual axis.
 * INVARIANT: a star never matches a guarded segment; only a literal does. Protected paths and options that make
 * a program run another one are both guarded segments, so the rule is the same in `covers`, `within` and `meet`.
 */
export interface Segments {
  readonly segments: readonly string[];
  readonly guarded: readonly boolean[] | null;
}

export function segmentsOf(segments: readonly string[]): Segments {
  return { segments, guarded: null };
}

/** A loop and no closure: this runs for every grant a decision looks at. */
export function anyMatches(patterns: readonly Sequence[], value: Segments): boolean {
  for (let at = 0; at < patterns.length; at++) if (sequenceMatches(patterns[at] as Sequence, value)) return true;
  return false;
}

/** Walks the plain beginning directly; from the first run of unknown length on, it simulates. */
export function sequenceMatches(pattern: Sequence, value: Segments): boolean {
  const { segments, guarded } = value;
  for (let place = 0; place < pattern.length; place++) {
    const segment = pattern[place] as Segment;
    if (segment.kind === "literal") {
      if (place >= segments.length || segment.text !== segments[place]) return false;
      continue;
    }
    if (isRun(segment))
      return place === pattern.length - 1 ? runMatches(segment, guarded, place) : simulate(pattern, value, place);
    if (place >= segments.length || !segmentMatches(segment, segments[place] as string)) return false;
    if (guarded !== null && guarded[place] === true) return false;
  }
  return segments.length === pattern.length;
}

/** A run at the end takes everything that is left; a deep star takes no guarded segment. */
function runMatches(segment: Segment, guarded: Segments["guarded"], from: number): boolean {
  return segment.kind === "rest" || guarded === null || guarded.indexOf(true, from) < 0;
}

/** Follows the set of places the pattern can be in; never goes back, so cost is |pattern| x |value|. */
function simulate(pattern: Sequence, value: Segments, from: number): boolean {
  const { segments, guarded } = value;
  const size = pattern.length;
  let here = new Uint8Array(size + 1);
  let next = new Uint8Array(size + 1);
  here[from] = 1;
  close(pattern, here);
  for (let at = from; at < segments.length; at++) {
    const text = segments[at] as string;
    const literalOnly = guarded?.[at] === true;
    next.fill(0);
    let alive = false;
    for (let place = from; place < size; place++) {
      if (here[place] === 0) continue;
      const segment = pattern[place] as Segment;
      if (literalOnly && segment.kind !== "literal" && segment.kind !== "rest") continue;
      if (isRun(segment)) {
        next[place] = 1;
        alive = true;
      } else if (segmentMatches(segment, text)) {
        next[place + 1] = 1;
        alive = true;
      }
    }
    if (!alive) return false;
    close(pattern, next);
    [here, next] = [next, here];
  }
  return here[size] === 1;
}

/** Stands for any number of segments. */
export function isRun(segment: Segment): boolean {
  return segment.kind === "deep" || segment.kind === "rest";
}

/** Epsilon closure: `**` may match zero segments. */
function close(pattern: Sequence, places: Uint8Array): void {
  for (let place = 0; place < pattern.length; place++) {
    if (places[place] === 1 && isRun(pattern[place] as Segment)) places[place + 1] = 1;
  }
}

export function sequenceText(pattern: Sequence, separator: string): string {
  return pattern.map(segmentText).join(separator);
}

export function sameSequence(left: Sequence, right: Sequence): boolean {
  if (left.length !== right.length) return false;
  return left.every((segment, at) => {
    const other = right[at] as Segment;
    return segment.kind === other.kind && segmentText(segment) === segmentText(other);
  });
}

/** Segments with a star in them, deep stars not counted: what a run of unknown segments can be matched by. */
export function starSegments(pattern: Sequence): number {
  let count = 0;
  for (const segment of pattern) if (segment.kind === "one" || segment.kind === "glob") count++;
  return count;
}

export function deepSegments(pattern: Sequence): number {
  let count = 0;
  for (const segment of pattern) if (isRun(segment)) count++;
  return count;
}
