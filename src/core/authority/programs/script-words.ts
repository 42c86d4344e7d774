// Programs whose words may be programs themselves: a `sed` or `awk` script can write files and start others.
// A word is judged wherever it stands, so it does not matter which of them the program takes for its script.
import { ANY_TEXT } from "../patterns/reserved.ts";
import { isHarmlessSedScript } from "./sed-script.ts";

const SCRIPTS: ReadonlyMap<string, (word: string) => boolean> = new Map([
  ["sed", (word) => word.startsWith("-") || isHarmlessSedScript(word)],
  ["awk", (word) => word.startsWith("-") || isHarmlessAwk(word)],
  ["gawk", (word) => word.startsWith("-") || isHarmlessAwk(word)],
  ["mawk", (word) => word.startsWith("-") || isHarmlessAwk(word)],
  // A format that shows signatures starts the program that reads them.
  ["git", (word) => !/%G|%\(signature/.test(word)],
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
