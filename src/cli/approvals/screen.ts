// The terminal of `approvals watch`: keys one by one, and a frame that is drawn over itself.
import { isTerminal, Output } from "../terminal/output.ts";

/** What a person pressed. */
export type Key = { readonly kind: "number"; readonly number: number } | { readonly kind: Word };
type Word = "up" | "down" | "show" | "approve" | "refuse" | "quit";

export interface WatchScreen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /** Until the returned function is called; then the terminal is as it was. */
  onKey(press: (key: Key) => void): () => void;
  /** Again and again, until the returned function is called. */
  every(milliseconds: number, listener: () => void): () => void;
}

const KEYS: Readonly<Record<string, Word>> = {
  "\u001b[A": "up",
  "\u001bOA": "up",
  k: "up",
  "\u001b[B": "down",
  "\u001bOB": "down",
  j: "down",
  "\r": "show",
  "\n": "show",
  s: "show",
  a: "approve",
  r: "refuse",
  q: "quit",
  "\u0003": "quit",
  "\u0004": "quit",
};

/** Several keys may arrive at once; an unknown escape sequence is ignored as a whole. */
export function keysOf(text: string): readonly Key[] {
  const keys: Key[] = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of a terminal begin with one
  for (const [piece] of text.matchAll(/\u001b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?|./gsu)) {
    const kind = Object.hasOwn(KEYS, piece) ? KEYS[piece] : undefined;
    if (/^[1-9]$/.test(piece)) keys.push({ kind: "number", number: Number(piece) });
    else if (kind !== undefined) keys.push({ kind });
  }
  return keys;
}

/** Draws a frame over the one before. INVARIANT: no line is as wide as the terminal, and no frame as high. */
export class Frame {
  readonly #screen: WatchScreen;
  #lines = 0;

  constructor(screen: WatchScreen) {
    this.#screen = screen;
  }

  draw(lines: readonly string[]): void {
    this.#screen.write(`${this.#back()}${lines.join("\r\n")}`);
    this.#lines = lines.length;
  }

  /** Nothing of it is left, and the cursor stands where it began. */
  erase(): void {
    this.#screen.write(this.#back());
    this.#lines = 0;
  }

  #back(): string {
    if (this.#lines === 0) return "";
    return `\r${this.#lines > 1 ? `\u001b[${this.#lines - 1}A` : ""}\u001b[J`;
  }
}

/** The terminal of this process; null where there is none to draw on or to read keys from. */
export function terminalScreen(): WatchScreen | null {
  if (!isTerminal(0) || !isTerminal(1) || process.env["TERM"] === "dumb") return null;
  const output = new Output();
  return {
    get columns() {
      return process.stdout.columns || 80;
    },
    get rows() {
      return process.stdout.rows || 24;
    },
    write: (text) => output.write(1, text),
    onKey: (press) => {
      const { stdin } = process;
      const heard = (bytes: Buffer): void => {
        for (const key of keysOf(bytes.toString("utf8"))) press(key);
      };
      stdin.setRawMode(true);
      stdin.on("data", heard);
      stdin.resume();
      return () => {
        stdin.off("data", heard);
        stdin.pause();
        stdin.setRawMode(false);
      };
    },
    every: (milliseconds, listener) => {
      const timer = setInterval(listener, milliseconds);
      return () => clearInterval(timer);
    },
  };
}
