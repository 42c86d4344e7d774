// Everything a script needs before any of it runs: every program with its arguments, every file that a redirection
// opens. A script whose needs cannot be determined is refused as a whole.
import { isBuiltIn, isReserved } from "./language/language-words.ts";
import { type Construct, refusal, type ShellRefusal } from "./language/refusal.ts";
import { isPattern, literalText, type Script, type Stage, type Word } from "./language/script.ts";

export interface CommandNeeds {
  readonly argv: readonly [string, ...string[]];
  /** Paths as written, relative to the script's folder. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

export type ScriptNeeds = { readonly ok: true; readonly commands: readonly CommandNeeds[] } | ShellRefusal;

/**
 * Variables and patterns are unknown here: the caller replaces them by quoted text first. INVARIANT: nothing of the
 * script is left out; a command that is not in the list is never started.
 */
export function requestsOf(script: Script): ScriptNeeds {
  const commands: CommandNeeds[] = [];
  for (const { stages } of script) {
    for (const stage of stages) {
      const needs = needsOf(stage);
      if ("ok" in needs) return needs;
      commands.push(needs);
    }
  }
  return { ok: true, commands };
}

function needsOf({ words, redirections }: Stage): CommandNeeds | ShellRefusal {
  const argv: string[] = [];
  for (const [at, word] of words.entries()) {
    const text = literalText(word);
    if (text === null) return refusal(unknownWord(word, at), word.range);
    const problem = (at === 0 ? notProgram(word, text) : null) ?? expansionIn(word);
    if (problem !== null) return refusal(problem, word.range);
    argv.push(text);
  }
  const [reads, writes]: [string[], string[]] = [[], []];
  for (const redirection of redirections) {
    if (redirection.kind === "join") continue;
    const { target } = redirection;
    const text = literalText(target);
    if (text === null) return refusal("unknown_target", target.range);
    const problem = expansionIn(target);
    if (problem !== null) return refusal(problem, target.range);
    (redirection.kind === "read" ? reads : writes).push(text);
  }
  const [program, ...rest] = argv;
  // INVARIANT of a stage: it has a word.
  if (program === undefined) throw new Error("a command without words");
  return { argv: [program, ...rest], reads, writes };
}

/** `[` is a program, but as a word it is a pattern; `[[` is shell syntax. */
function unknownWord(word: Word, at: number): Construct {
  if (at > 0) return "unknown_argument";
  return isPattern(word) && isReserved(plainText(word) ?? "") ? "shell_word" : "unknown_program";
}

function notProgram(word: Word, text: string): Construct | null {
  if (text === "") return "empty_program";
  const [first] = word.parts;
  if (first?.kind === "plain" && /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(first.text)) return "assignment";
  const plain = plainText(word);
  return isBuiltIn(text) || (plain !== null && isReserved(plain)) ? "shell_word" : null;
}

/**
 * What a shell would expand. Here it would be literal, and the author may have meant the expansion (`rm a # and b`), so
 * it has to be quoted.
 */
function expansionIn({ parts }: Word): Construct | null {
  const [first] = parts;
  if (first?.kind === "plain" && /^[~#]/.test(first.text)) return "expanded_by_shells";
  // Quoted and unknown parts contain neither a brace nor a comma.
  const text = parts.map((part) => (part.kind === "plain" ? part.text : "_")).join("");
  const open = text.indexOf("{");
  if (open < 0) return null;
  const between = text.slice(open).search(/,|\.\./);
  return between >= 0 && text.indexOf("}", open + between) >= 0 ? "expanded_by_shells" : null;
}

function plainText({ parts: [part, ...rest] }: Word): string | null {
  return part?.kind === "plain" && rest.length === 0 ? part.text : null;
}
