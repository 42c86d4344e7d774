// How far a long command is: one line on the terminal's error side, drawn over itself and gone at the end. Shown
// on terminals only: not in a pipe, not in a file, not with `--json`.
import type { Step } from "../../core/ports/progress.ts";
import { isTerminal, Output } from "./output.ts";
import type { JsonOption } from "./problems.ts";

export interface Progress {
  /** Runs the work; what was shown of it is gone when it ends, however it ends. */
  over<T>(what: string, work: (step: Step) => T): T;
  /** The same for work elsewhere that has no steps: shows how long it has taken so far. */
  wait<T>(what: string, work: Promise<T>): Promise<T>;
}

export const SILENT: Progress = { over: (_what, work) => work(() => {}), wait: (_what, work) => work };

/** What a line is drawn on. */
export interface ProgressScreen {
  readonly columns: number;
  /** Milliseconds since the command was started. */
  now(): number;
  write(text: string): void;
}

/** A command that ends before shows nothing: a line that comes and goes is worse than none. */
const firstShownMilliseconds = 700;
const betweenMilliseconds = 100;
/** To the first column, and everything in the line away. */
const ERASE = "\r\u001b[K";

export function progressOn(screen: ProgressScreen, firstShown: number = firstShownMilliseconds): Progress {
  let next = firstShown;
  return {
    over: (what, work) => {
      let isShown = false;
      try {
        return work((done, total) => {
          const now = screen.now();
          if (now < next) return;
          next = now + betweenMilliseconds;
          isShown = true;
          screen.write(`${ERASE}${fitting(`${what}: ${done} of ${total}`, screen.columns)}`);
        });
      } finally {
        if (isShown) screen.write(ERASE);
      }
    },
    wait: async (what, work) => {
      const start = screen.now();
      let isShown = false;
      const draw = (): void => {
        const now = screen.now();
        if (now < firstShown) return;
        isShown = true;
        screen.write(`${ERASE}${fitting(`${what}: ${Math.floor((now - start) / 1000)} s`, screen.columns)}`);
      };
      draw();
      const timer = setInterval(draw, betweenMilliseconds);
      try {
        return await work;
      } finally {
        clearInterval(timer);
        if (isShown) screen.write(ERASE);
      }
    },
  };
}

/** INVARIANT: narrower than the terminal, since a line that wrapped could not be erased. */
function fitting(line: string, columns: number): string {
  return line.slice(0, Math.max(0, columns - 1));
}

/** On the terminal of this process; silent where there is none. */
export function terminalProgress(firstShown?: number): Progress {
  if (!isTerminal(2) || process.env["TERM"] === "dumb") return SILENT;
  const output = new Output();
  return progressOn(
    {
      // Asked only when there is something to draw: the stream is slow to make.
      get columns() {
        return process.stderr.columns || 80;
      },
      now: () => performance.now(),
      write: (text) => output.write(2, text),
    },
    firstShown,
  );
}

export interface ProgressPorts {
  /** Absent: the terminal of this process. */
  readonly progress?: Progress;
}

export function progressOf({ progress }: ProgressPorts, { json }: JsonOption): Progress {
  return json ? SILENT : (progress ?? terminalProgress());
}
