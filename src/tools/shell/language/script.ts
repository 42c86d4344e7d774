// The tree of a script in the safe subset: lists of pipelines of commands, each word with its quoted parts. Absent on
// purpose: substitution, subshells, functions, loops, background, here-documents. They cannot be expressed here.
import type { Range } from "../../../core/notation/source.ts";

export type Script = readonly Step[];

/** One pipeline of a list, and the condition on the one before it. */
export interface Step {
  readonly after: ";" | "&&" | "||";
  readonly stages: readonly Stage[];
}

/** One command of a pipeline. INVARIANT: it has at least one word. */
export interface Stage {
  readonly words: readonly Word[];
  readonly redirections: readonly Redirection[];
  readonly range: Range;
}

export interface Word {
  /** INVARIANT: never empty; neighbours differ in kind or in being quoted. */
  readonly parts: readonly Part[];
  readonly range: Range;
}

export type Part =
  /** Not quoted: contains no metacharacter. `*`, `?` and `[` in it make the word a file-name pattern. */
  | { readonly kind: "plain"; readonly text: string }
  /** In quotes or after a backslash: literal, and may be empty. */
  | { readonly kind: "quoted"; readonly text: string }
  /** The value of a variable, literal: never split, never a pattern. */
  | { readonly kind: "variable"; readonly name: string };

export type Redirection =
  | { readonly kind: "read"; readonly target: Word }
  | { readonly kind: "write"; readonly stream: 1 | 2; readonly append: boolean; readonly target: Word }
  /** `2>&1`: errors go where the output goes. */
  | { readonly kind: "join" };

/** The text of a literal word; null for one with a variable or a pattern in it. */
export function literalText(word: Word): string | null {
  let text = "";
  for (const part of word.parts) {
    if (part.kind === "variable" || (part.kind === "plain" && hasPattern(part.text))) return null;
    text += part.text;
  }
  return text;
}

export function hasVariable(word: Word): boolean {
  return word.parts.some((part) => part.kind === "variable");
}

export function isPattern(word: Word): boolean {
  return word.parts.some((part) => part.kind === "plain" && hasPattern(part.text));
}

function hasPattern(text: string): boolean {
  return /[*?[]/.test(text);
}
