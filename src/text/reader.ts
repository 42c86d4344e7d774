// The frame of every reader: checks limits and refused characters first, and turns library exceptions into diagnostics.

import { inside, type Range, type Source } from "../core/notation/source.ts";
import type { TreeNode } from "../core/notation/tree.ts";
import { type Dialect, refusedCharacter } from "./characters.ts";
import { Draft } from "./draft.ts";
import { sourceCharactersMax, type TextTree } from "./read.ts";

/** Makes a tree of a text that is short enough and contains no refused character. Null after a refusal. */
export type Reader = (text: string, draft: Draft) => TreeNode | null;

/** INVARIANT: never throws, and returns a tree only if nothing was refused. */
export function readWith(source: Source, range: Range | undefined, dialect: Dialect, reader: Reader): TextTree {
  const whole = inside(source.text, range ?? { start: 0, end: source.text.length });
  const start = whole.start === 0 && source.text.startsWith("\uFEFF") ? Math.min(1, whole.end) : whole.start;
  const draft = new Draft(source, { start, end: whole.end });
  const length = whole.end - start;
  if (length > sourceCharactersMax) {
    draft.refuse(
      "too_large",
      { start: sourceCharactersMax, end: length },
      `the text is longer than ${sourceCharactersMax} characters`,
    );
    return draft.finish(null);
  }
  const text = source.text.slice(start, whole.end);
  const bad = refusedCharacter(text, dialect);
  if (bad !== null) {
    draft.refuse("syntax", bad, bad.message, "remove it");
    return draft.finish(null);
  }
  try {
    return draft.finish(reader(text, draft));
  } catch (failure) {
    // A library throws for unexpected input; a RangeError is a stack overflow or a string that is too long.
    const large = failure instanceof RangeError;
    draft.refuse(
      large ? "too_large" : "syntax",
      { start: 0, end: length },
      large ? "the text is nested too deeply or is too long" : "the text cannot be parsed",
    );
    return draft.finish(null);
  }
}
