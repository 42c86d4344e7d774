// What a program may do to its root: `ro` reads it, `rw` changes it through a draft when it ends, `live` works on a private copy
// that is kept in step while it runs. Each word covers the ones before it and no later one.

export const ROOT_WORDS = ["ro", "rw", "live"] as const;
export type RootWord = (typeof ROOT_WORDS)[number];

/** For messages. */
export const ROOT_WORDS_TEXT = "ro, rw or live";

export function isRootWord(text: unknown): text is RootWord {
  return ROOT_WORDS.some((word) => word === text);
}

/** The words that a grant with this word covers. */
export function rootWordsWithin(word: RootWord): readonly RootWord[] {
  return ROOT_WORDS.slice(0, ROOT_WORDS.indexOf(word) + 1);
}
