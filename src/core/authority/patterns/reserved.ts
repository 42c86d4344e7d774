// Two private-use characters stand for "any text" and "text no star matches" in counterexamples.
// Every reader of patterns and requests refuses them, so a witness can never collide with something a person wrote.

/** What a star stands for in a witness: only another star can match it. */
export const ANY_TEXT = "\uE000";
/** Text that not even a star of an argument pattern matches (a slash, a control character). */
export const FOREIGN_TEXT = "\uE001";

/** True for text that may enter the core: no NUL, no reserved character, no lone surrogate. */
export function isPlainText(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0 || code === 0xe000 || code === 0xe001) return false;
    if (code >= 0xd800 && code <= 0xdfff) {
      const next = text.charCodeAt(index + 1);
      if (code >= 0xdc00 || !(next >= 0xdc00 && next <= 0xdfff)) return false;
      index++;
    }
  }
  return true;
}
