// Two texts beside each other, as the lines that differ.

export interface ChangedLine {
  readonly sign: "-" | "+";
  /** From 1, in the text the line belongs to. */
  readonly line: number;
  readonly text: string;
}

/** Lines that are compared with each other; more are shown as one change. */
const linesMax = 2000;

/** The longest common run of lines stays unsaid. */
export function changedLines(before: string, after: string): readonly ChangedLine[] {
  const left = before.split(/\r?\n/);
  const right = after.split(/\r?\n/);
  let head = 0;
  while (head < left.length && head < right.length && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < left.length - head && tail < right.length - head && left.at(-1 - tail) === right.at(-1 - tail)) tail++;
  const old = left.slice(head, left.length - tail);
  const now = right.slice(head, right.length - tail);
  const common = old.length * now.length > linesMax * linesMax ? [] : commonLines(old, now);
  const changes: ChangedLine[] = [];
  let at = 0;
  let to = 0;
  for (const [one, other] of [...common, [old.length, now.length] as const]) {
    for (; at < one; at++) changes.push({ sign: "-", line: head + at + 1, text: old[at] as string });
    for (; to < other; to++) changes.push({ sign: "+", line: head + to + 1, text: now[to] as string });
    at++;
    to++;
  }
  return changes;
}

/** Pairs of places that hold the same line, in order, as many as there can be. */
function commonLines(left: readonly string[], right: readonly string[]): readonly (readonly [number, number])[] {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const length = (at: number, to: number): number => lengths[at * width + to] as number;
  for (let at = left.length - 1; at >= 0; at--)
    for (let to = right.length - 1; to >= 0; to--)
      lengths[at * width + to] =
        left[at] === right[to] ? length(at + 1, to + 1) + 1 : Math.max(length(at + 1, to), length(at, to + 1));
  const pairs: (readonly [number, number])[] = [];
  for (let at = 0, to = 0; at < left.length && to < right.length; ) {
    if (left[at] === right[to]) pairs.push([at++, to++]);
    else if (length(at + 1, to) >= length(at, to + 1)) at++;
    else to++;
  }
  return pairs;
}
