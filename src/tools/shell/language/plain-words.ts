// The literal mode: a script whose every word is literal in any shell, so that it is only argument vectors.
import type { Range } from "../../../core/notation/source.ts";
import type { JoinedLines } from "./joined-lines.ts";
import { refusal, type ShellRefusal } from "./refusal.ts";
import { hasVariable, isPattern, type Script, type Word } from "./script.ts";

/** Characters that some shell expands: braces, home folders, old pipes, comments. */
const EXPANDED = /[{}~^#]/;

/** The first construct that is more than a literal word, if any. */
export function notPlain(script: Script, { text, isChanged }: JoinedLines): ShellRefusal | null {
  if (isChanged) return refusal("escape", { start: 0, end: text.length });
  for (const { stages } of script) {
    for (const { words, redirections, range } of stages) {
      for (const word of words) {
        const problem = notLiteral(word, text);
        if (problem !== null) return problem;
      }
      if (redirections.length > 0) return refusal("redirection", range);
    }
  }
  return null;
}

function notLiteral(word: Word, text: string): ShellRefusal | null {
  if (hasVariable(word)) return refusal("variable", word.range);
  if (isPattern(word)) return refusal("pattern", word.range);
  const isExpanded = word.parts.some((part) => part.kind === "plain" && EXPANDED.test(part.text));
  if (isExpanded) return refusal("expansion_character", word.range);
  return hasEscape(text, word.range) ? refusal("escape", word.range) : null;
}

/** A backslash that is not in single quotes. */
function hasEscape(text: string, { start, end }: Range): boolean {
  let quote = "";
  for (let at = start; at < end; at++) {
    const character = text.charAt(at);
    if (character === "\\" && quote !== "'") return true;
    if (quote === "") {
      if (character === "'" || character === '"') quote = character;
    } else if (character === quote) quote = "";
  }
  return false;
}
