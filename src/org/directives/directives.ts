// Directives in an assistant's text: lines that ask the runtime to delegate, hire, schedule or request. Read strictly: what may be
// a quotation is one. INVARIANT: a line that any Markdown reader shows as code or as a quotation is no directive.

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
/** Any prefix of a list or a quotation may stand before a fence. */
const FENCE_OPENS = /^[\s>*+\-.)\d]*(`{3,}|~{3,})/;
const FENCE_CLOSES = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
const QUOTED = /^\s*>/;
/** Elements of HTML in which text is shown as code or as a quotation, and comments. */
const ELEMENTS = ["pre", "code", "blockquote", "q", "samp", "script", "style", "textarea", "xmp", "details"];

/** In the order they are written, each once. */
export function readDirectives(text: string): readonly Directive[] {
  const found = new Map<string, Directive>();
  const quotes = new OpenQuotes();
  let fence: string | null = null;
  let isQuoted = false;
  for (const line of text.split(/\r\n|[\n\r\u2028\u2029\u0085\v\f]/)) {
    if (fence !== null) {
      const closes = FENCE_CLOSES.exec(line)?.[1];
      if (closes?.startsWith(fence) === true) fence = null;
      continue;
    }
    fence = FENCE_OPENS.exec(line)?.[1] ?? null;
    if (fence !== null) continue;
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
  #straight = 0;
  #ticks = 0;
  readonly #nested = new Map<string, number>();

  get isOpen(): boolean {
    return this.#straight % 2 === 1 || this.#ticks % 2 === 1 || [...this.#nested.values()].some((count) => count > 0);
  }

  read(line: string): void {
    this.#straight += countOf(line, '"');
    this.#ticks += countOf(line, "`");
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
