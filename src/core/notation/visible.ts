// Characters that do not show, or that make a line read differently from what it says, in their JSON spelling.

/** Inside a JSON string the value stays the same; in a sentence it is what a person should see. */
export function visible(text: string): string {
  // Nearly all text; the classes below are slow to make.
  if (/^[ -~]*$/.test(text)) return text;
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, (found) =>
    [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}
