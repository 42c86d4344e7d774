// Prints a tree: parsing the text gives the same tree. Also prints an argument vector as one line.
import type { Part, Redirection, Script, Stage, Word } from "./script.ts";

export function scriptText(script: Script): string {
  return script
    .map(({ after, stages }, at) => `${at === 0 ? "" : ` ${after} `}${stages.map(stageText).join(" | ")}`)
    .join("");
}

/** One unambiguous line for this vector. */
export function argvText(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:@%+,=-]*$/.test(word) ? word : quoted(word)))
    .join(" ");
}

function stageText({ words, redirections }: Stage): string {
  return [...words.map(wordText), ...redirections.map(redirectionText)].join(" ");
}

function redirectionText(redirection: Redirection): string {
  switch (redirection.kind) {
    case "read":
      return `< ${wordText(redirection.target)}`;
    case "write":
      return `${redirection.stream}${redirection.append ? ">>" : ">"} ${wordText(redirection.target)}`;
    case "join":
      return "2>&1";
    default:
      return redirection satisfies never;
  }
}

export function wordText({ parts }: Word): string {
  return parts.map(partText).join("");
}

function partText(part: Part): string {
  switch (part.kind) {
    case "plain":
      return part.text;
    case "quoted":
      return quoted(part.text);
    case "variable":
      return `\${${part.name}}`;
    default:
      return part satisfies never;
  }
}

/** In single quotes only the closing quote is special. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
