// Programs whose words may be programs themselves: a `sed` or `awk` script can write files and start others.
// A word is judged wherever it stands, so it does not matter which of them the program takes for its script.
import { ANY_TEXT } from "./reserved.ts";

const SCRIPTS: ReadonlyMap<string, (word: string) => boolean> = new Map([
  ["sed", (word) => word.startsWith("-") || isHarmlessSed(word)],
  ["awk", (word) => word.startsWith("-") || isHarmlessAwk(word)],
  ["gawk", (word) => word.startsWith("-") || isHarmlessAwk(word)],
  ["mawk", (word) => word.startsWith("-") || isHarmlessAwk(word)],
  // A format that shows signatures starts the program that reads them.
  ["git", (word) => !word.includes("%G")],
]);

/** Whether this word, if the program takes it for its script, could do more than print. */
export function isRiskyScript(program: string, word: string): boolean {
  const isHarmless = SCRIPTS.get(program.slice(program.lastIndexOf("/") + 1));
  return isHarmless !== undefined && !word.includes(ANY_TEXT) && !isHarmless(word);
}

/** No output but its own, no command, no other source, no environment. */
function isHarmlessAwk(word: string): boolean {
  return !/[>|@]|system|getline|ENVIRON|\\\n/.test(word);
}

/** What sed refuses is harmless too: most names of files are no script. Blanks, braces and backslashes are not read. */
function isHarmlessSed(word: string): boolean {
  if (/[\s\\{}]/.test(word)) return false;
  const first = word.charAt(0);
  switch (first) {
    case "s":
      return isHarmlessSubstitution(word);
    case "/":
      return isHarmlessAfterAddress(word);
    case "w":
    case "W":
    case "e":
    case "!":
    case ";":
      return false;
    default:
      return word
        .split(";")
        .every((command, at) => (at === 0 && !word.includes(";") ? isOpening(command) : isPrinting(command)));
  }
}

/** Numbers begin an address; any other character here begins a command that only prints, or an error. */
function isOpening(word: string): boolean {
  return !/^[0-9$]/.test(word) || isPrinting(word);
}

function isPrinting(command: string): boolean {
  return /^(?:(?:\d+|\$)(?:,(?:\+?\d+|\$)|~\d+)?)?!?[dDgGhHlnNpPqQxz=]?$/.test(command);
}

function isHarmlessSubstitution(word: string): boolean {
  const [, , flags, ...more] = word.slice(2).split(word.charAt(1));
  if (flags === undefined) return true;
  return more.length === 0 && /^[gpiImM0-9]*$/.test(flags);
}

/** `/a/p`, and paths: what follows the second slash is a command, or an error. */
function isHarmlessAfterAddress(word: string): boolean {
  const end = word.indexOf("/", 1);
  if (end < 0) return true;
  const command = word.slice(end + 1).replace(/^[IM]+/, "");
  return !/^[,!~+$0-9/]/.test(command) && !command.includes(";") && isHarmlessSed(command);
}
