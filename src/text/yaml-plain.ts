// The YAML that records are mostly written in, read without the library, whose first use is most of what a start costs:
// maps and lists by indentation or on one line in brackets, words, whole numbers and quoted text without escapes.
import type { Range } from "../notation/source.ts";
import type { Entry, TreeNode } from "../notation/tree.ts";
import type { Draft } from "./draft.ts";

/** Longer texts are the library's: what it counts and refuses is never reached below this. */
const charactersMax = 16_384;
const linesMax = 1000;
const depthMax = 16;

/**
 * The tree the library would give, or null for a text that is not wholly of the plain kind. INVARIANT: any doubt is null,
 * and nothing has been refused then; a property holds every answer to the library's, spans included.
 */
export function plainYamlTree(text: string, draft: Draft): TreeNode | null {
  if (text.length > charactersMax || new RegExp(`[^\\n -~${LETTERS}]`).test(text)) return null;
  const lines = linesOf(text);
  if (lines === null || lines.length === 0) return null;
  const reader = new PlainReader(text, lines, draft);
  const tree = reader.block((lines[0] as Line).column, 1);
  return tree !== null && reader.isAtEnd ? tree.node : null;
}

/** A line that is neither blank nor a comment. */
interface Line {
  /** Where its text begins and ends in the whole. */
  readonly start: number;
  readonly end: number;
  readonly column: number;
}

/** A node, and where its last value ends: a block has no mark of its own there. */
interface Found {
  readonly node: TreeNode;
  readonly end: number;
}

function linesOf(text: string): Line[] | null {
  const lines: Line[] = [];
  let count = 0;
  for (let from = 0; from <= text.length; ) {
    if (++count > linesMax) return null;
    const next = text.indexOf("\n", from);
    const to = next < 0 ? text.length : next;
    let start = from;
    while (start < to && text[start] === " ") start++;
    let end = to;
    while (end > start && text[end - 1] === " ") end--;
    if (end > start && text[start] !== "#") lines.push({ start, end, column: start - from });
    from = to + 1;
  }
  return lines;
}

/** Beyond ASCII: scripts, without the blocks in which spaces and marks stand. */
const LETTERS = "\\u00c0-\\u167f\\u3041-\\ud7ff";
/** What goes on a word, in brackets too; outside of them also commas and quotes. */
const INSIDE = `\\w./@*+=~$%^&;<>()!?${LETTERS}`;
const INSIDE_LINE = `${INSIDE},'"`;
const KEY = /[A-Za-z_][\w.-]*(?=:(?:[ \n]|$))/y;
const DASH = /- (?=[^ ])/y;
const QUOTED = /"([^"\\\n]*)"|'([^'\n]*)'/y;
const COMMENT = / +#/y;
const WHOLE = /^(?:0|[1-9]\d{0,14})$/;
/** What YAML, or an older reader of it, may take for something else than text. */
const NOT_TEXT = /^(?:null|true|false|yes|no|on|off|\d.*)$/i;

/** Words that begin with what begins nothing else in YAML; a colon stands only where more of the word follows. */
function wordsOf(inside: string): RegExp {
  return new RegExp(`(?:[\\w/${LETTERS}]|\\.(?![\\w.]))(?:[${inside}-]|:(?=[\\w/.])| +(?=[${inside}-]))*`, "y");
}

class PlainReader {
  readonly #words = wordsOf(INSIDE);
  readonly #lineWords = wordsOf(INSIDE_LINE);
  readonly #text: string;
  readonly #lines: readonly Line[];
  readonly #draft: Draft;
  #next = 0;
  /** Where in the current line the reading stands. */
  #at = 0;

  constructor(text: string, lines: readonly Line[], draft: Draft) {
    this.#text = text;
    this.#lines = lines;
    this.#draft = draft;
    this.#at = (lines[0] as Line).start;
  }

  get isAtEnd(): boolean {
    return this.#next === this.#lines.length;
  }

  /** A map or a list whose entries begin in this column; the first begins where the reading stands. */
  block(column: number, depth: number): Found | null {
    if (depth > depthMax) return null;
    return this.#take(DASH, false) === null ? this.#map(column, depth) : this.#list(column, depth);
  }

  #list(column: number, depth: number): Found | null {
    const items: TreeNode[] = [];
    const start = this.#at;
    let end = start;
    do {
      if (this.#take(DASH) === null) return null;
      const isMap = this.#take(KEY, false) !== null;
      const found = isMap ? this.#map(column + 2, depth + 1) : this.#inline(column, depth + 1);
      if (found === null) return null;
      items.push(found.node);
      end = found.end;
    } while (this.#begins(column) && this.#take(DASH, false) !== null);
    return { node: { kind: "list", items, span: this.#draft.span({ start, end }) }, end };
  }

  #map(column: number, depth: number): Found | null {
    if (depth > depthMax) return null;
    const entries = new PlainEntries(this.#draft);
    const start = this.#at;
    let end = start;
    do {
      const keyStart = this.#at;
      const key = this.#take(KEY);
      if (key === null) return null;
      const keyRange = { start: keyStart, end: this.#at };
      this.#at++;
      const found = this.#endsLine() ? this.#below(column, depth + 1) : this.#behindKey(column, depth + 1);
      if (found === null || !entries.add(key, keyRange, found.node)) return null;
      end = found.end;
    } while (this.#begins(column));
    return { node: { kind: "map", entries: entries.list, span: this.#draft.span({ start, end }) }, end };
  }

  #behindKey(column: number, depth: number): Found | null {
    this.#blanks();
    return this.#inline(column, depth);
  }

  /** The block under a key that ends its line: indented further, or a list in the key's own column. */
  #below(column: number, depth: number): Found | null {
    const next = this.#lines[++this.#next];
    if (next === undefined) return null;
    this.#at = next.start;
    const isList = this.#take(DASH, false) !== null;
    return next.column > column || (isList && next.column === column) ? this.block(next.column, depth) : null;
  }

  /** A value that ends its line. What is indented further than its block would be more of it. */
  #inline(column: number, depth: number): Found | null {
    const node = this.#value(depth, this.#lineWords);
    const end = this.#at;
    if (node === null || !this.#endsLine()) return null;
    const next = this.#lines[++this.#next];
    return next !== undefined && next.column > column ? null : { node, end };
  }

  /** Does another entry begin here? A line of an outer block ends this one; one in between fits nowhere. */
  #begins(column: number): boolean {
    const next = this.#lines[this.#next];
    if (next === undefined || next.column !== column) return false;
    this.#at = next.start;
    return true;
  }

  #value(depth: number, words = this.#words): TreeNode | null {
    if (depth > depthMax) return null;
    const start = this.#at;
    const first = this.#text[start];
    if (first === "[") return this.#flowList(depth);
    if (first === "{") return this.#flowMap(depth);
    if (first === '"' || first === "'") {
      const written = this.#take(QUOTED);
      return written === null ? null : this.#draft.scalar(written.slice(1, -1), { start, end: this.#at });
    }
    const word = this.#take(words);
    if (word === null) return null;
    const range = { start, end: this.#at };
    if (word === "true" || word === "false") return this.#draft.scalar(word === "true", range);
    if (WHOLE.test(word)) return this.#draft.number(word, range);
    return NOT_TEXT.test(word) ? null : this.#draft.scalar(word, range);
  }

  #flowList(depth: number): TreeNode | null {
    const items: TreeNode[] = [];
    const end = this.#flow("]", () => {
      const item = this.#value(depth + 1);
      return item !== null && items.push(item) > 0;
    });
    return end === null ? null : { kind: "list", items, span: this.#draft.span(end) };
  }

  #flowMap(depth: number): TreeNode | null {
    const entries = new PlainEntries(this.#draft);
    const end = this.#flow("}", () => {
      const start = this.#at;
      const key = this.#take(KEY);
      if (key === null) return false;
      const range = { start, end: this.#at };
      this.#at++;
      this.#blanks();
      const value = this.#value(depth + 1);
      return value !== null && entries.add(key, range, value);
    });
    return end === null ? null : { kind: "map", entries: entries.list, span: this.#draft.span(end) };
  }

  /** One bracket to the other, with commas between what `one` reads; null where that is not all there is. */
  #flow(close: string, one: () => boolean): Range | null {
    const start = this.#at++;
    for (;;) {
      this.#blanks();
      if (!one()) return null;
      this.#blanks();
      const mark = this.#text[this.#at++];
      if (mark === close) return { start, end: this.#at };
      if (mark !== ",") return null;
    }
  }

  /** Does nothing but a comment follow in this line? */
  #endsLine(): boolean {
    return this.#at === (this.#lines[this.#next] as Line).end || this.#take(COMMENT, false) !== null;
  }

  #blanks(): void {
    while (this.#text[this.#at] === " ") this.#at++;
  }

  /** What the expression finds where the reading stands, which then stands behind it. */
  #take(expression: RegExp, isTaken = true): string | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#text)?.[0] ?? null;
    if (found !== null && isTaken) this.#at += found.length;
    return found;
  }
}

/** Entries that are given up, not refused, where a key stands twice: the library says it better. */
class PlainEntries {
  readonly list: Entry[] = [];
  readonly #seen = new Set<string>();
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  add(key: string, range: Range, value: TreeNode): boolean {
    if (this.#seen.has(key) || NOT_TEXT.test(key)) return false;
    this.#seen.add(key);
    this.list.push({ key, keySpan: this.#draft.span(range), value });
    return true;
  }
}
