// What two patterns have in common, as a list of patterns. Exact; past the cap it is null, and the caller narrows.
import { meetCellsMax, meetElementsMax, meetPatternsMax, patternsPerScopeMax } from "../../base/limits.ts";
import { DEEP, literal, REST, type Segment } from "./segment.ts";
import { isRun, type Sequence, sequenceText } from "./sequence.ts";

/**
 * `guards`: segments of this axis can be guarded, so a literal that met a star becomes text only that star's rule
 * covers: it must not open what the star does not.
 */
export function intersectSequences(left: Sequence, right: Sequence, guards: boolean): readonly Sequence[] | null {
  const met = interleave<Segment>(left, right, {
    isRun,
    bothRun: (one, other) => (one.kind === "rest" && other.kind === "rest" ? REST : DEEP),
    runOver: (run, one) =>
      guards && run.kind === "deep" && one.kind === "literal" ? { kind: "glob", parts: [one.text] } : one,
    meet: (one, other) => meetSegments(one, other, guards),
    key: (list) => sequenceText(list, "\0") + list.map((segment) => segment.kind[0]).join(""),
  });
  return met;
}

export function meetPatterns(
  left: readonly Sequence[],
  right: readonly Sequence[],
  guards: boolean,
): readonly Sequence[] | null {
  const all: Sequence[] = [];
  for (const one of left) {
    for (const other of right) {
      const met = intersectSequences(one, other, guards);
      if (met === null || all.length + met.length > patternsPerScopeMax) return null;
      all.push(...met);
    }
  }
  return all;
}

function meetSegments(left: Segment, right: Segment, guards: boolean): readonly Segment[] | null {
  if (left.kind === "literal" && right.kind === "literal") return left.text === right.text ? [left] : [];
  if (left.kind === "one") return [unliteral(right, guards)];
  if (right.kind === "one") return [unliteral(left, guards)];
  const met = intersectGlobs(parts(left), parts(right));
  return met === null
    ? null
    : met.map((list) =>
        list.length > 1 ? { kind: "glob", parts: list } : unliteral(literal(list[0] as string), guards),
      );
}

function unliteral(segment: Segment, guards: boolean): Segment {
  return guards && segment.kind === "literal" ? { kind: "glob", parts: [segment.text] } : segment;
}

function parts(segment: Segment): readonly string[] {
  if (segment.kind === "literal") return [segment.text];
  return segment.kind === "glob" ? segment.parts : ["", ""];
}

const STAR = Symbol("star");
type Character = string | typeof STAR;

/** The same walk, one character at a time: `ab*` and `*bc` have `ab*bc` and `abc` in common. */
export function intersectGlobs(
  left: readonly string[],
  right: readonly string[],
): readonly (readonly string[])[] | null {
  const met = interleave<Character>(characters(left), characters(right), {
    isRun: (one) => one === STAR,
    bothRun: () => STAR,
    runOver: (_, one) => one,
    meet: (one, other) => (one === other ? [one] : []),
    key: (list) => list.map((one) => (one === STAR ? "*" : `=${one}`)).join(""),
  });
  if (met === null) return null;
  return met.map((list) => {
    const texts = [""];
    for (const one of list) {
      if (one === STAR) texts.push("");
      else texts[texts.length - 1] += one;
    }
    return texts;
  });
}

function characters(list: readonly string[]): Character[] {
  return list.flatMap((text, at) => (at === 0 ? [...text] : [STAR, ...text]));
}

interface Walk<T> {
  isRun(one: T): boolean;
  bothRun(one: T, other: T): T;
  runOver(run: T, one: T): T;
  /** What two single elements have in common; null past the cap. */
  meet(one: T, other: T): readonly T[] | null;
  key(list: readonly T[]): string;
}

/** All ways two lists with runs can be read at once, from the back so that nothing is worked out twice. */
function interleave<T>(left: readonly T[], right: readonly T[], walk: Walk<T>): readonly (readonly T[])[] | null {
  const width = right.length + 1;
  if ((left.length + 1) * width > meetCellsMax) return null;
  let kept = 0;
  const table = new Array<readonly (readonly T[])[]>((left.length + 1) * width);
  const cell = (row: number, column: number): readonly (readonly T[])[] =>
    table[row * width + column] as readonly (readonly T[])[];
  for (let row = left.length; row >= 0; row--) {
    for (let column = right.length; column >= 0; column--) {
      const lists = new Map<string, readonly T[]>();
      const add = (head: T | null, tails: readonly (readonly T[])[]): void => {
        for (const tail of tails) {
          const first = tail[0];
          const joined =
            head === null || (walk.isRun(head) && first !== undefined && walk.isRun(first)) ? tail : [head, ...tail];
          lists.set(walk.key(joined), joined);
        }
      };
      const one = left[row];
      const other = right[column];
      if (one === undefined && other === undefined) lists.set("", []);
      else if (one !== undefined && walk.isRun(one)) {
        if (other === undefined) add(null, cell(row + 1, column));
        else if (walk.isRun(other)) {
          const run = walk.bothRun(one, other);
          add(run, cell(row + 1, column));
          add(run, cell(row, column + 1));
        } else {
          add(null, cell(row + 1, column));
          add(walk.runOver(one, other), cell(row, column + 1));
        }
      } else if (other !== undefined && walk.isRun(other)) {
        add(null, cell(row, column + 1));
        if (one !== undefined) add(walk.runOver(other, one), cell(row + 1, column));
      } else if (one !== undefined && other !== undefined) {
        const met = walk.meet(one, other);
        if (met === null) return null;
        for (const both of met) add(both, cell(row + 1, column + 1));
      }
      for (const list of lists.values()) kept += list.length;
      if (lists.size > meetPatternsMax || kept > meetElementsMax) return null;
      table[row * width + column] = [...lists.values()];
    }
  }
  return cell(0, 0);
}
