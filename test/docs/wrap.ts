// Wraps the prose of a Markdown page at 100 columns. Code, tables, headings and comments are unchanged.

const columnsMax = 100;

interface Block {
  /** The prefix of the first line: indentation, a list marker, a quotation mark. */
  readonly first: string;
  /** The prefix of the other lines. */
  readonly others: string;
  readonly words: string[];
}

export function wrapMarkdown(text: string): string {
  const out: string[] = [];
  let block: Block | null = null;
  const flush = (): void => {
    if (block !== null) out.push(...wrapped(block));
    block = null;
  };
  const lines = text.split("\n");
  for (const { line, isProse } of marked(lines)) {
    const item = isProse ? /^(\s*)([-*]|\d{1,3}\.)(\s+)(?=\S)/.exec(line) : null;
    const quote = isProse ? /^\s*>\s?/.exec(line) : null;
    if (!isProse || line.trim() === "" || (quote !== null && line.trim() === ">")) {
      flush();
      out.push(line);
    } else if (item !== null) {
      flush();
      const [mark] = item;
      block = { first: mark, others: " ".repeat(mark.length), words: [...wordsOf(line.slice(mark.length))] };
    } else if (quote !== null) {
      if (block?.others !== "> ") flush();
      block ??= { first: "> ", others: "> ", words: [] };
      block.words.push(...wordsOf(line.slice(quote[0].length)));
    } else {
      const [indent = ""] = /^\s*/.exec(line) ?? [];
      // A paragraph continues; after a quotation or at another indentation a new one begins.
      if (block !== null && (block.others === "> " || block.others.length !== indent.length)) flush();
      block ??= { first: indent, others: indent, words: [] };
      block.words.push(...wordsOf(line));
    }
  }
  flush();
  return out.join("\n");
}

/** Lines of prose that are longer, and could be shorter. */
export function longProseLines(text: string): readonly string[] {
  return marked(text.split("\n")).flatMap(({ line, isProse }) => {
    const couldBreak = isProse && line.length > columnsMax && wrapMarkdown(line).includes("\n");
    return couldBreak ? [line] : [];
  });
}

interface MarkedLine {
  readonly line: string;
  readonly isProse: boolean;
}

function marked(lines: readonly string[]): readonly MarkedLine[] {
  let end: RegExp | null = null;
  return lines.map((line, at) => {
    if (end !== null) {
      if (end.test(line)) end = null;
      return { line, isProse: false };
    }
    const fence = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence !== undefined) end = new RegExp(`^\\s*${fence}`);
    else if (at === 0 && line === "---") end = /^---$/;
    else if (/^\s*<!--/.test(line) && !line.includes("-->")) end = /-->/;
    const isPlain = end === null && !/^\s*(\||#{1,6}\s|<!--|(---|\*\*\*)$)/.test(line) && !/( {2}|\\)$/.test(line);
    return { line, isProse: isPlain };
  });
}

/** Split at spaces, but not inside short code and not before what would begin a list, a heading or a quotation. */
function wordsOf(line: string): readonly string[] {
  const parts = line.trim().match(/(?:[^\s`]|`[^`]{0,60}`|`)+/g) ?? [];
  const words: string[] = [];
  for (const part of parts) {
    if (words.length > 0 && /^([-*+>=|]+|#{1,6}|\d{1,3}[.)])$/.test(part)) words.push(`${words.pop()} ${part}`);
    else words.push(part);
  }
  return words;
}

function wrapped({ first, others, words }: Block): readonly string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of words) {
    if (!isEmpty && line.length + 1 + word.length > columnsMax) {
      lines.push(line);
      line = others;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
