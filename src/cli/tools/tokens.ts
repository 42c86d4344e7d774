// The tokens of a JavaScript or TypeScript file, read tolerantly: comments, texts, templates and expressions are told
// apart from code, and whatever is odd is passed over. Never more than one look at each character.

export interface Token {
  readonly kind: "name" | "text" | "template" | "pattern" | "number" | "sign";
  /** A name or a sign as it stands; of a text what stands between its quotes. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export const tokensMax = 500_000;

/** Signs of more than one character that matter here; all others are read one by one. */
const SIGNS: readonly string[] = ["?.", "=>", "===", "!==", "==", "!=", "..."];

/** Words after which a slash begins an expression and no division. */
const BEFORE_PATTERN: ReadonlySet<string> = new Set(
  "return typeof instanceof in of new delete void throw case do else yield await".split(" "),
);

/** Null: more than may be. */
export function tokensOf(text: string): readonly Token[] | null {
  const reader = new TokenReader(text);
  return reader.read() ? reader.tokens : null;
}

class TokenReader {
  readonly tokens: Token[] = [];
  readonly #text: string;
  #at = 0;
  /** For each open `${`, how many braces are open inside of it. */
  readonly #templates: number[] = [];
  /** Up to here no expression is looked for: one did not end on this line, and every look goes to its end. */
  #divisionsUntil = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): boolean {
    const text = this.#text;
    if (text.startsWith("#!")) this.#at = lineEnd(text, 0);
    while (this.#at < text.length) {
      if (this.tokens.length > tokensMax) return false;
      this.#next();
    }
    return true;
  }

  #push(kind: Token["kind"], start: number, end: number, text: string): void {
    this.tokens.push({ kind, text, start, end });
    this.#at = end;
  }

  #next(): void {
    const text = this.#text;
    const at = this.#at;
    const character = text[at] as string;
    if (/\s/.test(character)) this.#at++;
    else if (character === "/" && text[at + 1] === "/") this.#at = lineEnd(text, at);
    else if (character === "/" && text[at + 1] === "*") {
      const end = text.indexOf("*/", at + 2);
      this.#at = end < 0 ? text.length : end + 2;
    } else if (character === '"' || character === "'") this.#string(character);
    else if (character === "`") this.#template(at + 1, at);
    else if (/[\p{ID_Start}$_#\\]/u.test(character)) this.#name();
    else if (/\d/.test(character)) this.#number();
    else if (character === "/" && this.#isPatternHere()) this.#pattern();
    else this.#sign(character);
  }

  /** An unclosed string ends with its line. Escapes are read, so that `"\\u0066s"` is `fs`. */
  #string(quote: string): void {
    const start = this.#at;
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== quote && this.#text[end] !== "\n")
      end += this.#text[end] === "\\" ? 2 : 1;
    const last = Math.min(end, this.#text.length);
    this.#push("text", start, Math.min(last + 1, this.#text.length), unescaped(this.#text.slice(start + 1, last)));
  }

  /** A template up to its end or its next `${`; whole ones are texts. */
  #template(from: number, start: number): void {
    const text = this.#text;
    let end = from;
    while (end < text.length && text[end] !== "`" && !(text[end] === "$" && text[end + 1] === "{"))
      end += text[end] === "\\" ? 2 : 1;
    const last = Math.min(end, text.length);
    const isOver = text[last] !== "$";
    const isWhole = isOver && text[start] === "`";
    if (!isOver) this.#templates.push(0);
    this.#push(
      isWhole ? "text" : "template",
      start,
      Math.min(last + (isOver ? 1 : 2), text.length),
      unescaped(text.slice(from, last)),
    );
  }

  #name(): void {
    const match = /^(?:[\p{ID_Continue}$#]|\\u(?:[0-9a-f]{4}|\{[0-9a-f]{1,6}\}))+/iu.exec(
      this.#text.slice(this.#at, this.#at + 1024),
    );
    const length = Math.max(1, match?.[0].length ?? 1);
    const written = this.#text.slice(this.#at, this.#at + length);
    this.#push("name", this.#at, this.#at + length, written.includes("\\") ? unescaped(written) : written);
  }

  #number(): void {
    let end = this.#at + 1;
    while (end < this.#text.length && /[\w.]/.test(this.#text[end] as string)) end++;
    this.#push("number", this.#at, end, "");
  }

  #isPatternHere(): boolean {
    if (this.#at < this.#divisionsUntil) return false;
    const before = this.tokens.at(-1);
    if (before === undefined || before.kind === "template") return true;
    if (before.kind === "name") return BEFORE_PATTERN.has(before.text);
    return before.kind === "sign" && ![")", "]", "}"].includes(before.text);
  }

  #pattern(): void {
    const text = this.#text;
    const start = this.#at;
    let isInClass = false;
    let end = start + 1;
    for (; end < text.length && text[end] !== "\n"; end++) {
      if (text[end] === "\\") end++;
      else if (text[end] === "[") isInClass = true;
      else if (text[end] === "]") isInClass = false;
      else if (text[end] === "/" && !isInClass) break;
    }
    // One that does not end on its line was a division after all.
    if (text[end] !== "/") {
      this.#divisionsUntil = end;
      this.#push("sign", start, start + 1, "/");
    } else {
      end++;
      while (end < text.length && /[a-z]/.test(text[end] as string)) end++;
      this.#push("pattern", start, end, "");
    }
  }

  #sign(character: string): void {
    const at = this.#at;
    const inner = this.#templates.at(-1);
    if (inner !== undefined && character === "{") this.#templates[this.#templates.length - 1] = inner + 1;
    if (inner !== undefined && character === "}") {
      if (inner === 0) {
        this.#templates.pop();
        this.#template(at + 1, at);
        return;
      }
      this.#templates[this.#templates.length - 1] = inner - 1;
    }
    const sign = SIGNS.find((one) => this.#text.startsWith(one, at)) ?? character;
    this.#push("sign", at, at + sign.length, sign);
  }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(
    /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|(\r\n|[\s\S]))/gi,
    (_, braced?: string, four?: string, two?: string, other?: string) => {
      const code = Number.parseInt(braced ?? four ?? two ?? "", 16);
      if (!Number.isNaN(code)) return code <= 0x10ffff ? String.fromCodePoint(code) : "";
      return other === "\n" || other === "\r\n" ? "" : (other ?? "");
    },
  );
}
