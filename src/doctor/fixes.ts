// Mechanical fixes: a misspelt or outdated word replaced by the one that was meant. Plain edits of the text, each kept
// only if the text then reads better.
import type { Diagnostic } from "../core/notation/diagnostic.ts";
import { nearestName } from "../core/notation/nearest.ts";
import { meantVerb } from "../core/notation/scope/verb-reader.ts";
import { lineAt, type Range } from "../core/notation/source.ts";

export interface Edit {
  readonly line: number;
  readonly was: string;
  readonly now: string;
}

/** One word of a text and what stands in its place. */
export interface Replacement extends Range {
  readonly was: string;
  readonly now: string;
}

export interface RereadRecord {
  readonly diagnostics: readonly Diagnostic[];
  /** It allows something that the text on disk does not. */
  readonly widens: boolean;
}

export interface FixResult {
  readonly text: string;
  readonly edits: readonly Edit[];
  /** Edits that were possible but would have widened. */
  readonly heldBack: readonly Edit[];
}

const editsMax = 100;
/** Read again altogether: a very long text is mended a few words at a time. */
const charactersMax = 8_388_608;
/** A word put right can bring the next mistake to light: the verb first, then its keys. */
const roundsMax = 4;

export function mend(text: string, reread: (text: string) => RereadRecord, mayWiden: boolean): FixResult {
  let current = text;
  let known = reread(text);
  const edits: Edit[] = [];
  const heldBack: Edit[] = [];
  let left = charactersMax;
  for (let round = 0; round < roundsMax && edits.length < editsMax; round++) {
    const before = edits.length;
    // From the end, so that what comes before keeps its place.
    const wanted = known.diagnostics.toSorted((left, right) => right.span.start - left.span.start);
    for (const diagnostic of wanted) {
      const word = replacementFor(current, diagnostic);
      if (word === null) continue;
      left -= current.length;
      if (left < 0 || edits.length + heldBack.length >= editsMax) return { text: current, edits, heldBack };
      const changed = current.slice(0, word.start) + word.now + current.slice(word.end);
      const after = reread(changed);
      if (!isBetter(known.diagnostics, after.diagnostics, diagnostic)) continue;
      const edit: Edit = { line: lineAt({ name: "", text: current }, word.start).number, was: word.was, now: word.now };
      if (after.widens && !mayWiden) {
        if (!heldBack.some(({ line, was }) => line === edit.line && was === edit.was)) heldBack.push(edit);
        continue;
      }
      edits.push(edit);
      current = changed;
      known = after;
    }
    if (edits.length === before) break;
  }
  return { text: current, edits, heldBack };
}

/** The word a diagnostic stands on, and the one to write instead; null where that is not plain to see. */
export function replacementFor(text: string, { span, suggestion }: Diagnostic): Replacement | null {
  if (suggestion === null) return null;
  // A span inside quotes may be counted from the quote.
  for (const start of [span.start, span.start + 1]) {
    const word = wordAt(text, start, suggestion.includes(":"));
    if (word === null || word === suggestion) continue;
    const isWhole = start === span.start && start + word.length === span.end;
    if (!isWhole && !isMeant(word, suggestion)) continue;
    return { start, end: start + word.length, was: word, now: suggestion };
  }
  return null;
}

/** A whole word that begins here. */
function wordAt(text: string, start: number, colons: boolean): string | null {
  const words = colons ? /[\w.:@-]+/y : /[\w.-]+/y;
  words.lastIndex = start;
  const word = words.exec(text)?.[0];
  return word === undefined || /[\w.@-]/.test(text.charAt(start - 1)) ? null : word;
}

/** Where the span is not exactly the word, only a word that looks like the suggestion is touched. */
function isMeant(word: string, suggestion: string): boolean {
  return meantVerb(word) === suggestion || nearestName(word, [suggestion]) === suggestion;
}

/** The complaint is gone, and nothing became worse. */
function isBetter(before: readonly Diagnostic[], after: readonly Diagnostic[], mended: Diagnostic): boolean {
  const isSame = ({ code, span }: Diagnostic): boolean => code === mended.code && span.start === mended.span.start;
  if (after.some(isSame) || errors(after) > errors(before)) return false;
  return WHOLE_TEXT.every((code) => errors(after, code) <= errors(before, code));
}

/** Errors after which nothing of the text counts: no word put right is worth one of them. */
const WHOLE_TEXT: readonly Diagnostic["code"][] = ["syntax", "too_large", "failed_test"];

function errors(diagnostics: readonly Diagnostic[], code: Diagnostic["code"] | null = null): number {
  return diagnostics.filter((one) => one.severity === "error" && (code === null || one.code === code)).length;
}
