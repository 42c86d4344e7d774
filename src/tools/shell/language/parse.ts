// The parser of the `shell` tool: a safe subset of the shell language, parsed in one pass. No shell ever sees the text.
// The first construct outside the language refuses the whole script, with its class and its position.
import { isPlainText } from "../../../core/authority/patterns/reserved.ts";
import type { Range } from "../../../core/notation/source.ts";
import { type JoinedLines, joinLines } from "./joined-lines.ts";
import { scriptCharactersMax } from "./limits.ts";
import { notPlain } from "./plain-words.ts";
import { refusal, type ShellRefusal } from "./refusal.ts";
import type { Step, Word } from "./script.ts";
import { type ParseResult, ScriptReader } from "./script-reader.ts";

/** `script` is the whole language; `words` is commands of literal words, joined by operators, and nothing else. */
export type Language = "script" | "words";

export function parseScript(text: string, language: Language = "script"): ParseResult {
  if (text.length > scriptCharactersMax)
    return refusal("too_many_characters", { start: scriptCharactersMax, end: text.length });
  if (!isPlainText(text)) return refusal("not_text", firstForeign(text));
  const lines = joinLines(text);
  const read = new ScriptReader(lines.text).read();
  const parsed = read.ok && language === "words" ? (notPlain(read.script, lines) ?? read) : read;
  return parsed.ok ? { ok: true, script: parsed.script.map((step) => stepGiven(step, lines)) } : given(parsed, lines);
}

/** The tree with positions in the original text. */
function stepGiven(step: Step, lines: JoinedLines): Step {
  const word = ({ parts, range }: Word): Word => ({ parts, range: lines.given(range) });
  return {
    after: step.after,
    stages: step.stages.map(({ words, redirections, range }) => ({
      words: words.map(word),
      redirections: redirections.map((each) => (each.kind === "join" ? each : { ...each, target: word(each.target) })),
      range: lines.given(range),
    })),
  };
}

function given(refused: ShellRefusal, lines: JoinedLines): ShellRefusal {
  return { ...refused, range: lines.given(refused.range) };
}

function firstForeign(text: string): Range {
  let start = 0;
  for (const character of text) {
    if (!isPlainText(character)) break;
    start += character.length;
  }
  return { start, end: Math.min(start + 1, text.length) };
}
