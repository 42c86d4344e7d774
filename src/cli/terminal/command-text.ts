// A command line a person can paste into a shell.

export function commandText(words: readonly string[]): string {
  return ["ambit", ...words].map(quoteWord).join(" ");
}

/** One word as it is typed. */
export function quoteWord(word: string): string {
  return /^[A-Za-z0-9_./:@=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
