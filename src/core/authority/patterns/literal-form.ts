// Patterns that are words up to a place and then end, or go on with anything. Most that are ever written are of this form:
// a host or all below a domain, a file, a folder, a tree, a program.
import type { Segment } from "./segment.ts";
import type { Segments, Sequence } from "./sequence.ts";

/** What follows the words. */
const NOTHING = 0;
const ONE = 1;
const DEEP = 2;
/** A star and a deep star: one segment or more. */
const BELOW = 3;
const REST = 4;
const FOLLOWS_BITS = 3;
const FOLLOWS_MASK = (1 << FOLLOWS_BITS) - 1;

/** A grant and what follows the words of its pattern, in one number. Never below zero. */
export type Leaf = number;

/** How many words a pattern begins with. */
export function wordsBefore(pattern: Sequence): number {
  let size = 0;
  while (size < pattern.length && (pattern[size] as Segment).kind === "literal") size++;
  return size;
}

/** Null for a pattern of another form: with a star before a word, or inside one. */
export function leafOf(pattern: Sequence, size: number, grant: number): Leaf | null {
  const follows = followsOf(pattern, size);
  return follows === null ? null : (grant << FOLLOWS_BITS) | follows;
}

function followsOf(pattern: Sequence, size: number): number | null {
  const first = pattern[size]?.kind;
  if (pattern.length === size + 2) return first === "one" && pattern[size + 1]?.kind === "deep" ? BELOW : null;
  if (pattern.length > size + 2) return null;
  switch (first) {
    case undefined:
      return NOTHING;
    case "one":
      return ONE;
    case "deep":
      return DEEP;
    case "rest":
      return REST;
    case "literal":
    case "glob":
      return null;
  }
}

export function wordAt(pattern: Sequence, place: number): string {
  return (pattern[place] as Segment & { readonly kind: "literal" }).text;
}

export function grantOfLeaf(leaf: Leaf): number {
  return leaf >> FOLLOWS_BITS;
}

/** Can the pattern match a value with more segments than it has words? */
export function goesOn(leaf: Leaf): boolean {
  return (leaf & FOLLOWS_MASK) !== NOTHING;
}

/** Does what follows the words match the segments of a value from `at` on? No star matches a guarded one. */
export function leafMatches(leaf: Leaf, { segments, guarded }: Segments, at: number): boolean {
  const follows = leaf & FOLLOWS_MASK;
  if (follows === REST) return true;
  if (follows === NOTHING) return segments.length === at;
  if (follows !== DEEP && segments.length === at) return false;
  if (follows === ONE && segments.length !== at + 1) return false;
  return guarded === null || guarded.indexOf(true, at) < 0;
}
