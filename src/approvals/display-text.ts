// Escapes text from a model, a tool or a page for display: every character is visible, and none can hide or reorder
// another.

/**
 * Characters that an editor or a terminal hides or moves, combining marks on an ASCII character, and runs of combining
 * marks.
 */
const hidden = (): RegExp => /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]|(?<=[ -~])\p{M}+|\p{M}{4,}/gu;
/** A run of spaces this long pushes what follows out of sight. */
const spaceRun = / {9,}/g;

export interface DisplayText {
  readonly text: string;
  readonly notes: readonly string[];
}

/** A value in JSON quotes, so that our escapes can be told from its own backslashes. */
export function displayValue(value: string): DisplayText {
  return { text: spelled(JSON.stringify(value)), notes: notesOf(value) };
}

/** Text that is already a line: a request, a name. */
export function displayLine(line: string): DisplayText {
  return { text: spelled(line), notes: notesOf(line) };
}

function spelled(text: string): string {
  if (/^[ -~]*$/.test(text) && !text.includes("         ")) return text;
  return text
    .replace(hidden(), (found) => [...found].map((one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`).join(""))
    .replace(spaceRun, (run) => `\\u{20}*${run.length}`);
}

function notesOf(text: string): readonly string[] {
  return [
    ...(spelled(text) === text ? [] : ["invisible characters are shown as escapes"]),
    ...(/\P{ASCII}/u.test(text) ? ["non-ASCII letters, which may look like other letters"] : []),
  ];
}
