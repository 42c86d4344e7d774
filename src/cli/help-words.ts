// `ambit help agents grant`: the page of the whole name, as `ambit agents grant --help` shows it.
import type { Command } from "commander";

/** The same line with `help` written as the option; any other line as it is. */
export function helpWords(program: Command, words: readonly string[]): readonly string[] {
  let within = program;
  for (const [at, word] of words.entries()) {
    // A command that has none below it takes the word for itself.
    if (word === "help" && within.commands.length > 0)
      return [...words.slice(0, at), ...pageOf(within, words.slice(at + 1))];
    const next = named(within, word);
    if (next === undefined) return words;
    within = next;
  }
  return words;
}

/** A name that is not there is left for the program to complain of. */
function pageOf(group: Command, names: readonly string[]): readonly string[] {
  let within = group;
  for (const [at, name] of names.entries()) {
    const next = named(within, name);
    if (next !== undefined) within = next;
    else if (within.commands.length > 0 && name !== "help" && !name.startsWith("-")) return names.slice(0, at + 1);
    else return [...names.slice(0, at), "--help"];
  }
  return [...names, "--help"];
}

function named(group: Command, word: string): Command | undefined {
  return group.commands.find((one) => one.name() === word || one.aliases().includes(word));
}
