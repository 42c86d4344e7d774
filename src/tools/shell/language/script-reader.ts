// Parses commands, pipelines and lists in one pass: the first construct outside the language ends it.
import type { Range } from "../../../core/notation/source.ts";
import { commandsMax, wordsMax } from "./limits.ts";
import { readRedirection } from "./redirection-reader.ts";
import { refusal, type ShellRefusal } from "./refusal.ts";
import type { Redirection, Script, Stage, Step, Word } from "./script.ts";
import { type Cursor, readWord } from "./word-reader.ts";

export type ParseResult = { readonly ok: true; readonly script: Script } | ShellRefusal;

/** Parses commands into pipelines into a list. Incomplete nodes are in its fields. */
export class ScriptReader {
  readonly #cursor: Cursor;
  readonly #steps: Step[] = [];
  #after: Step["after"] = ";";
  #stages: Stage[] = [];
  #words: Word[] = [];
  #redirections: Redirection[] = [];
  #start = 0;
  #end = 0;
  /** An operator without the command after it yet. */
  #waiting: Range | null = null;
  #commands = 0;
  #wordCount = 0;

  constructor(text: string) {
    this.#cursor = { text, at: 0 };
  }

  read(): ParseResult {
    const { text } = this.#cursor;
    while (this.#cursor.at < text.length) {
      const problem = this.#next(text.charAt(this.#cursor.at));
      if (problem !== null) return problem;
    }
    if (this.#waiting !== null && this.#isEmpty()) return refusal("missing_command", this.#waiting);
    const problem = this.#isEmpty() ? null : this.#endStep(";");
    if (problem !== null) return problem;
    if (this.#steps.length === 0) return refusal("missing_command", { start: 0, end: text.length });
    return { ok: true, script: this.#steps };
  }

  #next(character: string): ShellRefusal | null {
    const { text, at } = this.#cursor;
    switch (character) {
      case " ":
      case "\t":
        this.#cursor.at++;
        return null;
      case "\n":
        this.#cursor.at++;
        // An empty line is nothing, and the command of an operator may be on the next one.
        return this.#isEmpty() ? null : this.#endStep(";");
      case ";":
        return this.#operator(";", (range) => this.#endStep(";", range));
      case "&":
        if (text[at + 1] !== "&") return refusal("background", { start: at, end: at + 1 });
        return this.#operator("&&", (range) => this.#endStep("&&", range));
      case "|":
        if (text[at + 1] === "|") return this.#operator("||", (range) => this.#endStep("||", range));
        return this.#operator("|", (range) => this.#endStage(range));
      case "(":
      case ")":
        return refusal("subshell", { start: at, end: at + 1 });
      case "<":
      case ">":
        return this.#redirection(null);
      default:
        return this.#word();
    }
  }

  #operator(sign: string, end: (range: Range) => ShellRefusal | null): ShellRefusal | null {
    const range = { start: this.#cursor.at, end: this.#cursor.at + sign.length };
    if (this.#isEmpty()) return refusal("missing_command", range);
    this.#cursor.at = range.end;
    return end(range);
  }

  #word(): ShellRefusal | null {
    const word = readWord(this.#cursor);
    // No word begins at an operator, and those were handled before.
    if (word === null) throw new Error("a word was expected");
    if ("ok" in word) return word;
    const next = this.#cursor.text.charAt(this.#cursor.at);
    const [part] = word.parts;
    const isNumber = word.parts.length === 1 && part?.kind === "plain" && /^[0-9]+$/.test(part.text);
    if (isNumber && (next === "<" || next === ">")) return this.#redirection(word);
    this.#begin(word.range.start);
    this.#end = this.#cursor.at;
    this.#words.push(word);
    return this.#count(word);
  }

  #redirection(stream: Word | null): ShellRefusal | null {
    this.#begin(stream?.range.start ?? this.#cursor.at);
    const found = readRedirection(this.#cursor, stream);
    if ("ok" in found) return found;
    this.#end = this.#cursor.at;
    this.#redirections.push(found);
    return found.kind === "join" ? null : this.#count(found.target);
  }

  #begin(start: number): void {
    if (this.#isEmpty()) this.#start = start;
  }

  #count({ range }: Word): ShellRefusal | null {
    return ++this.#wordCount > wordsMax ? refusal("too_many_words", range) : null;
  }

  #isEmpty(): boolean {
    return this.#words.length === 0 && this.#redirections.length === 0;
  }

  #endStage(waiting: Range | null): ShellRefusal | null {
    const range = { start: this.#start, end: this.#end };
    if (this.#words.length === 0) return refusal("redirection_alone", range);
    if (++this.#commands > commandsMax) return refusal("too_many_commands", range);
    this.#stages.push({ words: this.#words, redirections: this.#redirections, range });
    this.#words = [];
    this.#redirections = [];
    this.#waiting = waiting;
    return null;
  }

  /** `sign` joins the next step. A list may end in `;`, but not in the others. */
  #endStep(sign: Step["after"], range: Range | null = null): ShellRefusal | null {
    const problem = this.#endStage(sign === ";" ? null : range);
    if (problem !== null) return problem;
    this.#steps.push({ after: this.#after, stages: this.#stages });
    this.#stages = [];
    this.#after = sign;
    return null;
  }
}
