// The text of a refusal for models: the construct, its position, and what to write instead.
import { place } from "../../../core/notation/source.ts";
import type { Construct, ShellRefusal } from "./refusal.ts";

const MESSAGES: Readonly<Record<Construct, string>> = {
  command_substitution:
    "command substitution cannot be checked before it runs; run that command in an earlier call and write its output here",
  arithmetic: "arithmetic expansion is not supported; write the number",
  subshell: "subshells are not supported; write the commands one after the other, or quote the parentheses",
  background: "background jobs are not supported; use `&&` or `;`",
  here_document: "here-documents are not supported; write a file first and read it with `<`",
  stream_copy: "`2>&1` is the only supported copy of a stream",
  stream_number: "only the redirections `<`, `>`, `>>`, `2>` and `2>>` are supported",
  pattern_as_target: "a redirection needs the name of one file, not a pattern",
  bare_dollar: "a dollar sign starts a variable; put a literal dollar sign in single quotes",
  variable_form: "only `$NAME`, with or without braces, is supported",
  hidden_character: "invisible character; quote it or remove it",
  open_quote: "this quote is not closed",
  open_variable: "this variable has no closing `}`",
  trailing_backslash: "no character follows this backslash",
  missing_command: "a command is missing here",
  missing_target: "this redirection has no file name",
  empty_target: "the name of a file cannot be empty",
  redirection_alone: "a redirection needs a command",
  not_text: "a script cannot contain this character",
  variable: "variables are not supported here; write the value",
  pattern: "file name patterns are not supported here; write the names",
  redirection: "redirections are not supported here",
  expansion_character: "shells read this character in different ways; quote it",
  escape: "backslashes are not supported here; use quotes",
  unknown_program: "the program's name is not in the text, so it cannot be checked; write the name",
  unknown_argument: "the value of this argument is not known before the script runs; write the value",
  unknown_target: "the name of this file is not known before the script runs; write the name",
  late_pattern:
    "patterns are expanded before the script starts, and an earlier command may change the files; use a second call",
  expanded_by_shells: "a shell would expand this; quote it, or write the expanded text",
  assignment: "variables cannot be set; write the value where it is needed",
  shell_word: "this is a word of the shell's own language, and no shell runs; only programs can be called",
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
  return `line ${line}, column ${column}${piece === "" ? "" : `, ${JSON.stringify(piece)}`}: ${MESSAGES[construct]}`;
}
