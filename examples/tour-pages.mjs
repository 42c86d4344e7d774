// The tour on a terminal, page by page. A file, a pipe and `--all` get everything at once.
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";

const QUESTION = "-- Enter: next page   a: all the rest   q: end --";

/** Thrown where the person ends the tour. */
export class TourEnded extends Error {}

export class Pages {
  #isPaged;
  #rows = 0;

  constructor(argv) {
    this.#isPaged = process.stdout.isTTY === true && process.stdin.isTTY === true && !argv.includes("--all");
  }

  /** Shows text that belongs together on one page; what is longer than a page is shown in several. */
  async show(text) {
    if (this.#rows > 0 && !this.#fits(text)) await this.#wait();
    for (const piece of this.#fits(text) ? [text] : text.match(/.*\n|.+$/g)) {
      if (!this.#fits(piece)) await this.#wait();
      process.stdout.write(piece);
      this.#rows += rowsOf(piece);
    }
  }

  #fits(text) {
    return !this.#isPaged || this.#rows + rowsOf(text) < (process.stdout.rows || 24);
  }

  async #wait() {
    process.stdout.write(QUESTION);
    const key = await pressedKey();
    process.stdout.write(`\r${" ".repeat(QUESTION.length)}\r`);
    this.#rows = 0;
    if (key === "a") this.#isPaged = false;
    if (key === "q") throw new TourEnded();
  }
}

/** `a`, `q`, or anything else for the next page. Ctrl-C, Ctrl-D and a terminal that is gone end the tour. */
async function pressedKey() {
  const { stdin } = process;
  stdin.setRawMode(true);
  stdin.resume();
  const listening = new AbortController();
  const quit = () => ["q"];
  const [data, end] = ["data", "end"].map((event) => once(stdin, event, { signal: listening.signal }));
  const [bytes] = await Promise.race([data, end.then(quit)]).catch(quit);
  // Removes the listeners of the event that did not come; its promise is rejected.
  for (const one of [data, end]) one.catch(quit);
  listening.abort();
  stdin.pause();
  stdin.setRawMode(false);
  const key = String(bytes)[0] ?? "q";
  return key === "\u0003" || key === "\u0004" ? "q" : key.toLowerCase();
}

/** Rows of the terminal that the text takes, long lines wrapped. */
function rowsOf(text) {
  const columns = process.stdout.columns || 80;
  const lines = stripVTControlCharacters(text).replace(/\n$/, "").split("\n");
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
}
