// A tree under construction: counts its nodes, maps their positions, and collects refusals.
import type { Span } from "../core/authority/grant.ts";
import { isPlainText } from "../core/authority/patterns/reserved.ts";
import { Diagnostics } from "../core/notation/diagnostic.ts";
import { inside, type Range, type Source } from "../core/notation/source.ts";
import type { Scalar, TreeNode } from "../core/notation/tree.ts";
import { exactNumber } from "./number.ts";
import { depthMax, diagnosticsMax, nodesMax, type TextTree } from "./read.ts";

export class Draft {
  readonly #source: Source;
  readonly #range: Range;
  readonly #diagnostics = new Diagnostics();
  #nodes = 0;

  constructor(source: Source, range: Range) {
    this.#source = source;
    this.#range = range;
  }

  get refused(): boolean {
    return this.#diagnostics.list.length > 0;
  }

  /** Further refusals would be dropped. */
  get isFull(): boolean {
    return this.#diagnostics.list.length >= diagnosticsMax;
  }

  /** Offsets are relative to the text the reader was given. */
  span(range: Range): Span {
    const { start, end } = this.#range;
    const found = inside(this.#source.text, { start: start + range.start, end: start + range.end });
    return { source: this.#source.name, start: Math.min(found.start, end), end: Math.min(found.end, end) };
  }

  refuse(code: "syntax" | "too_large", range: Range, message: string, fix: string | null = null): null {
    if (!this.isFull) this.#diagnostics.error(code, this.span(range), message, { fix });
    return null;
  }

  /** Counts one more node; false, with a refusal, if there are too many or it is too deep. */
  admit(range: Range, depth: number): boolean {
    if (depth > depthMax) this.refuse("too_large", range, `lists and maps are nested more than ${depthMax} deep`);
    else if (++this.#nodes === nodesMax + 1)
      this.refuse("too_large", range, `the text has more than ${nodesMax} values`);
    return depth <= depthMax && this.#nodes <= nodesMax;
  }

  scalar(value: Scalar["value"], range: Range): Scalar | null {
    if (typeof value === "string" && !this.plain(value, range)) return null;
    const span = this.span(range);
    const written = this.#source.text.slice(span.start, span.end);
    const isOther = typeof value === "string" && written !== value;
    return { kind: "scalar", value, span, ...(isOther ? { written } : {}) };
  }

  number(text: string, range: Range): Scalar | null {
    const value = exactNumber(text);
    if (value !== null) return this.scalar(value, range);
    if (!/\d/.test(text)) return this.refuse("syntax", range, "a number must be finite");
    return this.refuse(
      "syntax",
      range,
      "this number cannot be represented without losing digits",
      "write a shorter number, or quote it to make it text",
    );
  }

  /** An escaped character is refused like a literal one. */
  plain(text: string, range: Range): boolean {
    if (isPlainText(text)) return true;
    this.refuse(
      "syntax",
      range,
      "the text contains an escaped NUL, reserved character or unpaired surrogate",
      "remove it",
    );
    return false;
  }

  finish(tree: TreeNode | null): TextTree {
    if (this.refused) return { tree: null, diagnostics: this.#diagnostics.list };
    if (tree !== null) return { tree, diagnostics: [] };
    this.refuse("syntax", { start: 0, end: this.#range.end - this.#range.start }, "the text cannot be parsed");
    return { tree: null, diagnostics: this.#diagnostics.list };
  }
}
