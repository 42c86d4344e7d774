// An independent implementation of our rules for lists of words: arguments, names and paths, each with `*` in one word and `**`
// over many.

/** `longer`: the minimum number of words a `**` matches. */
export function wordsMatch(pattern: readonly string[], words: readonly string[], longer = 0): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return words.length === 0;
  if (first === "**") {
    return Array.from({ length: words.length + 1 }, (_, taken) => taken).some(
      (taken) => taken >= longer && wordsMatch(rest, words.slice(taken), longer),
    );
  }
  const [word, ...others] = words;
  return word !== undefined && wordMatches(first, word) && wordsMatch(rest, others, longer);
}

function wordMatches(pattern: string, word: string): boolean {
  const parts = pattern.split(/\*+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(word);
}

/** An entry of `patterns` as words: `cmd:*` and a last ` *` mean ` **`, a lone `*` anything. */
export function commandWords(pattern: string): string[] {
  const words = pattern
    .replace(/^([^\s*:]+):\*$/, "$1 **")
    .trim()
    .split(/\s+/);
  return words.at(-1) === "*" ? [...words.slice(0, -1), "**"] : words;
}

/** An absolute path without `.`, `..` and empty segments. */
export function pathWords(path: string, base: string, home: string): string[] {
  const whole = path.startsWith("/")
    ? path
    : path === "~" || path.startsWith("~/")
      ? home + path.slice(1)
      : `${base}/${path}`;
  const words: string[] = [];
  for (const word of whole.split("/")) {
    if (word === "..") words.pop();
    else if (word !== "" && word !== ".") words.push(word);
  }
  return words;
}

export function isAtOrBelow(path: readonly string[], root: readonly string[]): boolean {
  return root.every((word, at) => path[at] === word);
}

/** `a{b,c}` as `ab` and `ac`. */
export function spelledOut(text: string): string[] {
  const match = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(text);
  if (match === null) return [text];
  const [, before = "", choices = "", after = ""] = match;
  return choices.split(",").flatMap((choice) => spelledOut(before + choice + after));
}
