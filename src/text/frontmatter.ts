// The YAML between two `---` lines at the head of a Markdown file.

import { lineAt, type Range, type Source } from "../core/notation/source.ts";
import { Draft } from "./draft.ts";
import { sourceCharactersMax, type TextTree } from "./read.ts";
import { readYaml } from "./yaml.ts";

export interface Frontmatter {
  readonly read: TextTree;
  /** Offset of the text after the frontmatter; the start of the file if there is none. */
  readonly body: { readonly start: number };
}

const example = "---\nname: reader\ncapabilities:\n  - fs.read: { in: ~/notes }\n---";

export function readFrontmatter(source: Source): Frontmatter {
  const { text } = source;
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  if (text.length > sourceCharactersMax) {
    return refused(
      source,
      start,
      "too_large",
      { start: sourceCharactersMax, end: text.length },
      `the text is longer than ${sourceCharactersMax} characters`,
      null,
    );
  }
  const first = lineAt(source, start);
  const head = { start, end: first.end };
  if (text.slice(head.start, head.end) !== "---") {
    return refused(
      source,
      start,
      "syntax",
      head,
      "the text must start with a line `---`, and another `---` line must end its frontmatter",
      example,
    );
  }
  const inner = afterBreak(text, first.end);
  const closing = closingLine(text, inner);
  if (closing === null)
    return refused(
      source,
      start,
      "syntax",
      head,
      "the frontmatter that starts here has no closing line `---`",
      example,
    );
  return {
    read: readYaml(source, { start: inner, end: closing.start }),
    body: { start: afterBreak(text, closing.end) },
  };
}

/** The next line that is exactly `---`. Trailing spaces do not close it: readers disagree about them. */
function closingLine(text: string, from: number): Range | null {
  const lines = /---(?=\r\n?|\n|$)/y;
  const breaks = /\r\n?|\n|$/g;
  for (let start = from; start <= text.length; ) {
    lines.lastIndex = start;
    if (lines.test(text)) return { start, end: start + 3 };
    breaks.lastIndex = start;
    const found = breaks.exec(text);
    if (found === null || found[0] === "") return null;
    start = found.index + found[0].length;
  }
  return null;
}

function afterBreak(text: string, end: number): number {
  return end + (text.startsWith("\r\n", end) ? 2 : end < text.length ? 1 : 0);
}

function refused(
  source: Source,
  start: number,
  code: "syntax" | "too_large",
  range: Range,
  message: string,
  fix: string | null,
): Frontmatter {
  const draft = new Draft(source, { start: 0, end: source.text.length });
  draft.refuse(code, range, message, fix);
  return { read: draft.finish(null), body: { start } };
}
