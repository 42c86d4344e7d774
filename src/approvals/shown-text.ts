// Text of a model, a tool or a page as a person may rely on it: every character is there, and none can hide or reorder
// another.

/** What an editor or a terminal would hide or move, marks that lie on a plain letter, and marks piled up. */
const hidden = (): RegExp => /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]|(?<=[ -~])\p{M}+|\p{M}{4,}/gu;
/** So many spaces push what follows out of sight. */
const spaceRun = / {9,}/g;

export interface Shown {
  readonly text: string;
  readonly notes: readonly string[];
}

/** A value in JSON's quotes, so that a backslash of ours can be told from one of theirs. */
export function shownValue(value: string): Shown {
  return { text: spelled(JSON.stringify(value)), notes: notesOf(value) };
}

/** What is a line already: a request, a name. */
export function shownLine(line: string): Shown {
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
    ...(spelled(text) === text ? [] : ["characters that do not show are spelled out"]),
    ...(/\P{ASCII}/u.test(text) ? ["letters outside ASCII, which may look like others"] : []),
  ];
}
