// Directives in an assistant's text: lines that ask the runtime to delegate, hire, schedule or request. Read strictly: what may be
// a quotation is one. INVARIANT: a line that any Markdown reader shows as code or as a quotation is no directive. Where readers may
// disagree whether something was opened or closed, the next mark could be either: no directive follows in that text.

export const DIRECTIVES = ["DELEGATE", "HIRE", "SCHEDULE", "REQUEST"] as const;
export type DirectiveName = (typeof DIRECTIVES)[number];

export interface Directive {
  readonly name: DirectiveName;
  /** Between the brackets. */
  readonly subject: string;
  readonly text: string;
}

const subjectCharactersMax = 200;
export const directiveCharactersMax = 8000;

const LINE = /^(DELEGATE|HIRE|SCHEDULE|REQUEST)\[([^\][\p{Cc}]{1,200})\]:[ \t]*(.*)$/u;
/** Looks like a fence: readers disagree about one that is indented, in a list or a quotation, or has ticks behind it. */
const FENCE = /^[\s>*+\-.)\d]*(?:`{3}|~{3})/;
/** A fence for every reader, in the first column. */
const FENCE_OPENS = /^(`{3,}(?=[^`]*$)|~{3,})/;
const FENCE_CLOSES = /^(`{3,}|~{3,})[ \t]*$/;
/** Closes a fence for some readers: indented a little. */
const MAY_CLOSE = /^ {1,3}(`{3,}|~{3,})[ \t]*$/;
/** Begins a block of HTML, in which a fence is text, up to an empty line. */
const HTML_BLOCK = /^ {0,3}<[a-z/!?]/i;
const QUOTED = /^\s*>/;
/** Elements of HTML in which text is shown as code or as a quotation, and comments. */
const ELEMENTS = ["pre", "code", "blockquote", "q", "samp", "script", "style", "textarea", "xmp", "details"];

/** In the order they are written, each once. */
export function readDirectives(text: string): readonly Directive[] {
  const found = new Map<string, Directive>();
  const quotes = new OpenQuotes();
  let fence: string | null = null;
  let isQuoted = false;
  let isInHtml = false;
  for (const line of text.split(/\r\n|[\n\r\u2028\u2029\u0085\v\f]/)) {
    if (fence !== null) {
      if (MAY_CLOSE.exec(line)?.[1]?.startsWith(fence) === true) break;
      const closes = FENCE_CLOSES.exec(line)?.[1];
      if (closes === fence) fence = null;
      // A longer one closes it for most readers.
      else if (closes?.startsWith(fence) === true) break;
      continue;
    }
    isInHtml = HTML_BLOCK.test(line) || (isInHtml && line.trim() !== "");
    if (FENCE.test(line)) {
      fence = isInHtml || quotes.isOpen ? null : (FENCE_OPENS.exec(line)?.[1] ?? null);
      if (fence === null) break;
      continue;
    }
    // A quotation goes on without its mark until an empty line.
    if (QUOTED.test(line)) isQuoted = true;
    else if (line.trim() === "") isQuoted = false;
    const directive = isQuoted || quotes.isOpen ? null : readDirective(line);
    if (directive !== null) found.set(`${directive.name}[${directive.subject}]: ${directive.text}`, directive);
    quotes.read(line);
  }
  return [...found.values()];
}

function readDirective(line: string): Directive | null {
  const match = line.length > directiveCharactersMax ? null : LINE.exec(line);
  if (match === null) return null;
  const [, name, subject = "", rest = ""] = match;
  const text = rest.trim();
  const isNamed = subject === subject.trim() && subject.length <= subjectCharactersMax;
  if (!isNamed || (text === "" && name !== "REQUEST")) return null;
  return { name: name as DirectiveName, subject, text };
}

/** Quotation marks, inline code and elements of HTML that were opened on an earlier line and not closed. */
class OpenQuotes {
  /** One mark without its pair on the line: whether the next one closes it or opens another is not known. */
  #isUnpaired = false;
  readonly #nested = new Map<string, number>();

  get isOpen(): boolean {
    return this.#isUnpaired || [...this.#nested.values()].some((count) => count > 0);
  }

  read(line: string): void {
    const isOdd = countOf(line, '"') % 2 === 1 || countOf(line, "`") % 2 === 1;
    // A mark at the end with nothing before it opens, whatever the number: one before it may be an inch.
    this.#isUnpaired ||= isOdd || /(?:^|\s)"\s*$/.test(line);
    this.#nest("“", countOf(line, "“") + countOf(line, "„"), countOf(line, "”"));
    this.#nest("«", countOf(line, "«"), countOf(line, "»"));
    this.#nest("<!--", countOf(line, "<!--"), countOf(line, "-->"));
    const lower = line.toLowerCase();
    for (const name of lower.includes("<") ? ELEMENTS : [])
      this.#nest(name, lower.match(new RegExp(`<${name}(?![a-z0-9-])`, "g"))?.length ?? 0, countOf(lower, `</${name}`));
  }

  #nest(key: string, opened: number, closed: number): void {
    this.#nested.set(key, Math.max(0, (this.#nested.get(key) ?? 0) + opened - closed));
  }
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}
