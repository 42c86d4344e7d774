// Decisions about the language of the `shell` tool.
import type { JsonObject } from "../../src/core/base/json.ts";
import { parseScript } from "../../src/tools/shell/language/parse.ts";
import type { Decision } from "./decision.ts";
import { type Row, textAt } from "./row.ts";
import { shellAnswer } from "./shell.ts";

const FILES: readonly string[] = ["bridle-safe-subset-shell"];

/** The text split where something is outside of quotes, with the quoted pieces left whole. */
function unquotedPieces(text: string): readonly { readonly text: string; readonly isQuoted: boolean }[] {
  const pieces = text.match(/'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?|\\[\s\S]|[^'"\\]+|\\/g) ?? [];
  return pieces.map((piece) => ({ text: piece, isQuoted: /^['"\\]/.test(piece) }));
}

function replaceUnquoted(text: string, pattern: RegExp, by: string): string {
  return unquotedPieces(text)
    .map((piece) => (piece.isQuoted ? piece.text : piece.text.replace(pattern, by)))
    .join("");
}

function hasUnquoted(text: string, pattern: RegExp): boolean {
  return unquotedPieces(text).some((piece) => !piece.isQuoted && pattern.test(piece.text));
}

function parsed(text: string): JsonObject {
  return shellAnswer(parseScript(text));
}

/** Each line is its own script, one after the other; a line that ends in an operator continues in the next. */
function lineByLine(text: string): JsonObject {
  const lines = replaceUnquoted(text, /\n/g, "\uF8FF")
    .replace(/((?:\||&&)[ \t]*)\uF8FF[\uF8FF \t]*/g, "$1 ")
    .split("\uF8FF")
    .filter((line) => line.trim() !== "")
    .map(parsed);
  const refused = lines.find(({ verdict }) => verdict === "refuse");
  if (lines.length === 0) return { verdict: "refuse", class: "malformed" };
  return refused ?? { verdict: "accept", script: lines.flatMap(({ script }) => script as JsonObject[]) };
}

const BLANK = /[\r\v\f\u0085\p{Zs}\u2028\u2029]/u;
const isOddBlank = (text: string): boolean => hasUnquoted(text, new RegExp(`(?! )${BLANK.source}`, "u"));

export const SHELL_DECISIONS: readonly Decision[] = [
  {
    record: "0029-shell-subset",
    when: "a newline that is not quoted ends a command, as it does in every shell",
    files: FILES,
    holds: (input) => hasUnquoted(textAt(input, "input"), /\n/) && !isOddBlank(textAt(input, "input")),
    answer: (input: Row) => lineByLine(textAt(input, "input")),
    seed: (input: Row) => parsed(replaceUnquoted(textAt(input, "input"), /\n/g, " ")),
  },
  {
    record: "0029-shell-subset",
    when: "a backslash at the end of a line joins it with the next, as it does in every shell",
    files: FILES,
    holds: (input) => /\\\n/.test(textAt(input, "input")),
    answer: (input: Row) => parsed(textAt(input, "input").replaceAll("\\\n", "")),
    // There a quoted newline is a newline in the word.
    seed: (input: Row) => parsed(textAt(input, "input").replaceAll("\\\n", "'\n'")),
  },
  {
    record: "0029-shell-subset",
    when: "a blank that no shell takes for one (a carriage return, a no-break space) is not quoted",
    files: FILES,
    holds: (input) => isOddBlank(textAt(input, "input")),
    answer: () => ({ verdict: "refuse", class: "unsupported" }),
    seed: (input: Row) => parsed(replaceUnquoted(textAt(input, "input"), new RegExp(BLANK.source, "gu"), " ")),
  },
];
