// How text looks on a terminal: what would hide or reorder it is spelled out, and every character has its columns.

/** Characters of a piece of text with the columns each takes. */
export class Cells {
  readonly #cells: readonly Cell[];

  constructor(cells: readonly Cell[]) {
    this.#cells = cells;
  }

  get text(): string {
    return this.#cells.map((cell) => cell.text).join("");
  }

  get columns(): number {
    return this.#cells.reduce((sum, cell) => sum + cell.columns, 0);
  }

  /** In UTF-16 units of the text they were made from. */
  get length(): number {
    return this.#cells.reduce((sum, cell) => sum + cell.length, 0);
  }

  first(columnsMax: number): Cells {
    return new Cells(this.#cells.slice(0, fitting(this.#cells, columnsMax)));
  }

  last(columnsMax: number): Cells {
    return new Cells(this.#cells.slice(this.#cells.length - fitting(this.#cells.toReversed(), columnsMax)));
  }
}

interface Cell {
  readonly text: string;
  readonly columns: number;
  readonly length: number;
}

export function cellsOf(text: string): Cells {
  return new Cells(
    [...text].map((character) => ({
      text: visibleText(character),
      columns: columnsOf(character),
      length: character.length,
    })),
  );
}

/** Control, formatting, private and unassigned characters, half characters, and blanks that are not a space. */
const hidden = (): RegExp => /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** Text that shows what it is: a tab as blanks, everything an editor would hide or reorder by its number. */
export function visibleText(text: string): string {
  if (isPlain(text)) return text;
  return text.replace(hidden(), (character) =>
    character === "\t" ? tab : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

const tab = "  ";

/** Nearly all text. The classes of Unicode are slow to make, so they are made when something else is met. */
function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

const wide = (): RegExp =>
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{17000}-\u{18AFF}\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u;

function columnsOf(character: string): number {
  if (isPlain(character)) return 1;
  const text = visibleText(character);
  if (text !== character) return text.length;
  return /\p{M}/u.test(character) ? 0 : wide().test(character) ? 2 : 1;
}

/** How many from the beginning fit. */
function fitting(cells: readonly Cell[], columnsMax: number): number {
  let columns = 0;
  let count = 0;
  for (const cell of cells) {
    columns += cell.columns;
    if (columns > columnsMax) break;
    count++;
  }
  return count;
}
