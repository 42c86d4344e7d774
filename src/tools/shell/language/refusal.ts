// Why a script is refused: the class of the construct, its name, and its position.
import type { Range } from "../../../core/notation/source.ts";

/**
 * `dynamic`: what would run is not in the text. `unsupported`: a shell has it, this language does not. `malformed`: no
 * shell would accept it. `not_plain`: more than literal words where only those are accepted. `unknown`: the script is
 * valid, but which program or file it needs cannot be determined. `too_long`: a limit.
 */
export type RefusalClass = "dynamic" | "unsupported" | "malformed" | "not_plain" | "unknown" | "too_long";

export interface ShellRefusal {
  readonly ok: false;
  readonly class: RefusalClass;
  readonly construct: Construct;
  /** In the original text. */
  readonly range: Range;
}

export type Construct =
  | "command_substitution"
  | "arithmetic"
  | "subshell"
  | "background"
  | "here_document"
  | "stream_copy"
  | "stream_number"
  | "pattern_as_target"
  | "bare_dollar"
  | "variable_form"
  | "hidden_character"
  | "open_quote"
  | "open_variable"
  | "trailing_backslash"
  | "missing_command"
  | "missing_target"
  | "empty_target"
  | "redirection_alone"
  | "not_text"
  | "variable"
  | "pattern"
  | "redirection"
  | "expansion_character"
  | "escape"
  | "unknown_program"
  | "unknown_argument"
  | "unknown_target"
  | "late_pattern"
  | "expanded_by_shells"
  | "assignment"
  | "shell_word"
  | "empty_program"
  | "too_many_characters"
  | "too_many_commands"
  | "too_many_words"
  | "too_many_stages";

/** Every refused construct and its class: one table, so that they cannot disagree. */
const CLASSES: Readonly<Record<Construct, RefusalClass>> = {
  command_substitution: "dynamic",
  arithmetic: "dynamic",
  subshell: "dynamic",

  background: "unsupported",
  here_document: "unsupported",
  stream_copy: "unsupported",
  stream_number: "unsupported",
  pattern_as_target: "unsupported",
  bare_dollar: "unsupported",
  variable_form: "unsupported",
  hidden_character: "unsupported",

  open_quote: "malformed",
  open_variable: "malformed",
  trailing_backslash: "malformed",
  missing_command: "malformed",
  missing_target: "malformed",
  empty_target: "malformed",
  redirection_alone: "malformed",
  not_text: "malformed",

  variable: "not_plain",
  pattern: "not_plain",
  redirection: "not_plain",
  expansion_character: "not_plain",
  escape: "not_plain",

  unknown_program: "unknown",
  unknown_argument: "unknown",
  unknown_target: "unknown",
  late_pattern: "unknown",
  expanded_by_shells: "unknown",
  assignment: "unknown",
  shell_word: "unknown",
  empty_program: "unknown",

  too_many_characters: "too_long",
  too_many_commands: "too_long",
  too_many_words: "too_long",
  too_many_stages: "too_long",
};

export function refusal(construct: Construct, range: Range): ShellRefusal {
  return { ok: false, class: CLASSES[construct], construct, range };
}
