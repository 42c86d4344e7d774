// Replacements in a text; everything outside the ranges is unchanged.
import type { Range } from "../../core/notation/source.ts";

export interface Replacement extends Range {
  readonly text: string;
}

/** INVARIANT: characters outside the ranges are copied unchanged. Null if two ranges overlap. */
export function applyReplacements(text: string, replacements: readonly Replacement[]): string | null {
  const ordered = [...replacements].sort((left, right) => left.start - right.start || left.end - right.end);
  let result = "";
  let from = 0;
  for (const { start, end, text: put } of ordered) {
    if (start < from || end < start || end > text.length) return null;
    result += text.slice(from, start) + put;
    from = end;
  }
  return result + text.slice(from);
}

/** The line break this text uses. */
export function breakOf(text: string): string {
  return /\r\n|\n/.exec(text)?.[0] ?? "\n";
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** The offset after the line break, or the end of the text. */
export function lineAfter(text: string, offset: number): number {
  const found = text.indexOf("\n", offset);
  return found < 0 ? text.length : found + 1;
}

/** A block scalar includes the line break after it; lines are counted without it. */
export function trimmedEnd(text: string, { start, end }: Range): number {
  let last = end;
  while (last > start && /\s/.test(text[last - 1] as string)) last--;
  return last;
}

export function isBlank(text: string, start: number, end: number): boolean {
  return /^[ \t]*$/.test(text.slice(start, end));
}
