// The text of a refusal for models: the construct, its position, and what to write instead.
import { place } from "../../../core/notation/source.ts";
import type { Construct, ShellRefusal } from "./refusal.ts";

const WORDS: Readonly<Record<Construct, string>> = {
  command_substitution: "a command inside a command is not run; run it first, and write down what it said",
  arithmetic: "sums are not done here; write the number",
  subshell: "parentheses are not taken; write the commands one after the other, or quote them",
  background: "`&` is not taken: nothing goes on behind a script; use `&&` or `;`",
  here_document: "texts inside a script are not taken; write a file first, and read it with `<`",
  stream_copy: "of all copies of streams only `2>&1` is taken",
  stream_number: "only `<`, `>`, `>>`, `2>` and `2>>` are taken",
  pattern_as_target: "a redirection goes to one file; write its name",
  bare_dollar: "a dollar begins a variable; in single quotes it is a dollar",
  variable_form: "of variables only $NAME is taken, with or without braces",
  hidden_character: "there is an invisible character; quote it or remove it",
  open_quote: "this quote has no end",
  open_variable: "this variable has no `}`",
  trailing_backslash: "there is nothing behind this backslash",
  missing_command: "a command is missing here",
  missing_target: "the file of this redirection is missing",
  empty_target: "the name of a file cannot be empty",
  redirection_alone: "a redirection needs a command",
  not_text: "there is a character here that no text has",
  variable: "variables are not taken",
  pattern: "patterns of file names are not taken",
  redirection: "redirections are not taken",
  expansion_character: "shells read this character in several ways; put it in quotes",
  escape: "backslashes are not taken",
  unknown_program: "which program this runs is not written down; write its name",
  unknown_argument: "what this stands for is not known here; write it out",
  unknown_target: "which file this is is not known here; write its name",
  late_pattern:
    "what it chooses is looked up before the script begins, and a command before it may change that; use a second call",
  expanded_by_shells: "a shell would make something else of this; quote it, or write out what you mean",
  assignment: "variables cannot be set; write the value where it is needed",
  shell_word: "this word belongs to the shell, and there is none; only programs are run",
  empty_program: "the name of a program cannot be empty",
  too_many_characters: "the script is too long",
  too_many_commands: "the script has too many commands",
  too_many_words: "the script has too many words",
  too_many_stages: "the pipeline has too many commands",
};

const shownCharactersMax = 60;

/** "line 1, column 6, `$(`: ..." */
export function refusalText({ construct, range }: ShellRefusal, script: string): string {
  const { line, column } = place({ name: "script", text: script }, range.start);
  const [first = ""] = script.slice(range.start, range.end).split("\n");
  const piece = first.length > shownCharactersMax ? `${first.slice(0, shownCharactersMax)}...` : first;
  return `line ${line}, column ${column}${piece === "" ? "" : `, ${JSON.stringify(piece)}`}: ${WORDS[construct]}`;
}
