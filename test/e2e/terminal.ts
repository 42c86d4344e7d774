// A program on a real pseudo-terminal with scripted keys: each key is sent once the text it answers has appeared.
import { spawn } from "node:child_process";
import { once } from "node:events";

export interface TerminalRan {
  readonly status: number | null;
  /** Everything that was written to the terminal, with its control sequences. */
  readonly raw: string;
}

/** Keys may depend on the current terminal content, and on what happens elsewhere meanwhile. */
export type Answer = readonly [words: string, keys: string | ((raw: string) => string | Promise<string>)];

const columns = 100;
const waitMillisecondsMax = 60_000;

export async function onTerminal(
  cwd: string,
  words: readonly string[],
  answers: readonly Answer[],
  environment: Readonly<Record<string, string>>,
): Promise<TerminalRan> {
  const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const child = spawn("script", ["-qec", `stty cols ${columns} rows 40; ${line}`, "/dev/null"], {
    cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      TERM: "xterm-256color",
      SHELL: "/bin/sh",
      ...environment,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), waitMillisecondsMax);
  let raw = "";
  let seen = 0;
  const left = [...answers];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    raw += text;
    for (let next = left[0]; next !== undefined; next = left[0]) {
      const [words, keys] = next;
      const at = raw.indexOf(words, seen);
      if (at < 0) break;
      seen = at + words.length;
      const typed = typeof keys === "string" ? keys : keys(raw);
      if (typeof typed === "string") child.stdin.write(typed);
      else
        void typed.then(
          (text) => child.stdin.write(text),
          () => child.kill("SIGKILL"),
        );
      left.shift();
    }
  });
  const [status] = (await once(child, "exit")) as [number | null];
  clearTimeout(timer);
  return { status, raw };
}

/** A sequence that moves or erases, by its number and its letter. */
const SEQUENCE = new RegExp(`^${String.fromCharCode(27)}\\[\\??(\\d*)(?:;\\d+)*([A-Za-z])$`);
const PIECES = new RegExp(
  `${["\\[[?\\d;]*[A-Za-z]", "[^[]"].map((one) => String.fromCharCode(27) + one).join("|")}|[^]`,
  "gu",
);

/** The text a person reads in the end: overwritten frames are merged, and control sequences removed. */
export function screenOf(raw: string): string {
  const lines: string[][] = [[]];
  let row = 0;
  let column = 0;
  for (const [piece] of raw.matchAll(PIECES)) {
    const [, number = "", letter = ""] = SEQUENCE.exec(piece) ?? [];
    const count = Math.max(1, Number(number || 1));
    if (piece === "\n") row++;
    else if (piece === "\r") column = 0;
    else if (letter === "A") row = Math.max(0, row - count);
    else if (letter === "B") row += count;
    else if (letter === "C") column += count;
    else if (letter === "D") column = Math.max(0, column - count);
    else if (letter === "G") column = count - 1;
    else if (letter === "J") {
      lines.splice(row + 1);
      lines[row]?.splice(column);
    } else if (letter === "K") lines[row]?.splice(number === "2" ? 0 : column);
    else if (piece.length === 1 || piece.codePointAt(0) !== 27) {
      while (lines.length <= row) lines.push([]);
      const line = lines[row] as string[];
      while (line.length < column) line.push(" ");
      line[column++] = piece;
    }
  }
  const texts = lines.map((line) => line.join("").trimEnd());
  return texts.join("\n").trimEnd();
}
