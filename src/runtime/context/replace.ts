// Exact replacements in a text, one edit after the other; one that does not match fails all of them.

import type { Failure } from "../../core/base/result.ts";
export interface Edit {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean;
}

export interface EditReport {
  /** How often. */
  readonly replaced: number;
  /** Of the first occurrence, from one. */
  readonly line: number;
}

export type ReplaceResult =
  | { readonly ok: true; readonly text: string; readonly edits: readonly EditReport[] }
  | Failure;

const linesShownMax = 10;

export function replaceAll(before: string, edits: readonly Edit[], charactersMax: number): ReplaceResult {
  let text = before;
  const done: EditReport[] = [];
  for (const [at, edit] of edits.entries()) {
    const { old, new: replacement, all = false } = edit;
    const places = occurrences(text, old);
    const fault = faultOf(text, edit, places);
    if (fault !== null) return { ok: false, message: `edit ${at + 1}: ${fault}; nothing was changed` };
    // The size is computed first: a short text that occurs often may expand beyond memory.
    const count = all ? places.length : 1;
    if (text.length + count * (replacement.length - old.length) > charactersMax)
      return { ok: false, message: `edit ${at + 1}: the file would become too long; nothing was changed` };
    const first = places[0] as number;
    done.push({ replaced: count, line: lineAt(text, first) });
    text = all
      ? text.split(old).join(replacement)
      : `${text.slice(0, first)}${replacement}${text.slice(first + old.length)}`;
  }
  return { ok: true, text, edits: done };
}

function faultOf(text: string, { old, new: replacement, all = false }: Edit, places: readonly number[]): string | null {
  if (old === replacement) return "`old` and `new` are the same";
  if (places.length === 0) {
    const hasOtherEnds = old.includes("\n") && !old.includes("\r") && text.includes("\r\n");
    return hasOtherEnds ? "`old` is not in the file, whose lines end in CRLF (\\r\\n)" : "`old` is not in the file";
  }
  if (places.length === 1 || all) return null;
  const lines = places.slice(0, linesShownMax).map((place) => lineAt(text, place));
  const more = places.length > linesShownMax ? ", ..." : "";
  return `\`old\` is in the file ${places.length} times (lines ${lines.join(", ")}${more}): make it longer, or set \`all\``;
}

/** Occurrences, not overlapping. */
function occurrences(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < place; at = text.indexOf("\n", at + 1)) line++;
  return line;
}
