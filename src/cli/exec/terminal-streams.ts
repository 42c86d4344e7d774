// The person's own terminal while a program runs on another one inside its sandbox: raw, filtered, resized, stopped and
// continued with it, and put back on every way out.
import { PassThrough, type Writable } from "node:stream";
import type { TerminalPass } from "../../core/notation/config/run-settings.ts";
import type { TerminalControl, TerminalSize } from "../../core/ports/process.ts";
import { TerminalFilter } from "../terminal/terminal-filter.ts";
import type { ExecStreams } from "./ports.ts";
import { cancelOnSignals, writeBytes } from "./streams.ts";

/** Whether a program can have a terminal here: its keys and its screen are both the person's. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** An answer of the terminal that is still on its way must not be typed into the person's shell. */
const answerMillisecondsMax = 300;
const POSITION = new RegExp(`${String.fromCharCode(27)}\\[\\d{1,5};\\d{1,5}R`, "g");
/** The shell stops us before this has passed, and time stands still while we are stopped. */
const stopMilliseconds = 50;
const DEFAULT_SIZE: TerminalSize = { columns: 80, rows: 24 };

export function terminalStreams(passes: readonly TerminalPass[]): {
  readonly streams: ExecStreams;
  putBack(): Promise<void>;
  release(): Promise<void>;
} {
  const { signal, abort, release } = cancelOnSignals();
  const filter = new TerminalFilter(passes);
  const typed = new PassThrough();
  let control: TerminalControl | null = null;
  let isRaw = false;

  const size = (): TerminalSize => {
    const { columns, rows } = process.stdout;
    return columns > 0 && rows > 0 ? { columns, rows } : DEFAULT_SIZE;
  };
  const resized = (): void => control?.resize(size());
  const goRaw = (): void => {
    if (process.stdin.destroyed) return;
    process.stdin.setRawMode(true);
    isRaw = true;
  };
  const putBack = (): void => {
    if (!isRaw) return;
    isRaw = false;
    writeBytes(1, Buffer.from(filter.modes.undone()));
    if (!process.stdin.destroyed) process.stdin.setRawMode(false);
  };
  const key = (bytes: Buffer): void => {
    if (filter.positionsOpen > 0) filter.positionsAnswered(bytes.toString("latin1").match(POSITION)?.length ?? 0);
    if (!typed.write(bytes)) process.stdin.pause();
  };
  /** The shell had the terminal while this process was stopped. */
  const continued = (): void => {
    if (!isRaw) return;
    process.stdin.setRawMode(false);
    goRaw();
    resized();
  };
  const output = (bytes: Uint8Array): void => {
    const filtered = filter.write(bytes);
    sendReplies(typed, filtered.replies);
    writeBytes(1, filtered.output);
  };
  /** The program stopped, and we with it: the person is back in their shell until they continue us. */
  const halted = (): void => {
    putBack();
    process.kill(0, "SIGTSTP");
    setTimeout(() => {
      goRaw();
      writeBytes(1, Buffer.from(filter.modes.redone()));
      control?.resume();
      resized();
    }, stopMilliseconds);
  };

  typed.on("drain", () => process.stdin.resume());
  process.stdin.on("data", key);
  // The terminal is gone.
  process.stdin.on("end", abort);
  process.stdin.on("error", abort);
  process.stdout.on("resize", resized);
  process.on("SIGCONT", continued);
  process.on("exit", putBack);
  goRaw();
  const releaseAll = async (): Promise<void> => {
    control = null;
    if (filter.positionsOpen > 0 && isRaw) await new Promise((done) => setTimeout(done, answerMillisecondsMax));
    putBack();
    process.off("exit", putBack);
    process.off("SIGCONT", continued);
    process.stdout.off("resize", resized);
    process.stdin.off("data", key);
    process.stdin.off("end", abort);
    release();
    typed.destroy();
    process.stdin.pause();
  };
  return {
    streams: {
      input: typed,
      output,
      errors: output,
      signal,
      terminal: {
        size: size(),
        attach: (made) => {
          control = made;
        },
        onHalt: halted,
      },
    },
    putBack: releaseAll,
    release: releaseAll,
  };
}

/** Answers to a program that does not read its input are dropped: it could ask until they fill the memory. */
export function sendReplies(input: Writable, replies: string): void {
  if (replies !== "" && !input.writableNeedDrain) input.write(Buffer.from(replies, "latin1"));
}
