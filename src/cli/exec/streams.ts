// The streams of a program: its input, the sinks of its output, and what stops it.
import { writeSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import type { TerminalPass } from "../../core/notation/config/run-settings.ts";
import { visibleText } from "../terminal/cells.ts";
import { isTerminal } from "../terminal/output.ts";
import { TerminalFilter } from "../terminal/terminal-filter.ts";
import type { ExecStreams } from "./ports.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A signal that ends this process ends the program first, so that its draft is landed or kept and its outcome logged. */
export function cancelOnSignals(): { readonly signal: AbortSignal; abort(): void; release(): void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const signal of SIGNALS) process.on(signal, abort);
  return {
    signal: controller.signal,
    abort,
    release: () => {
      for (const signal of SIGNALS) process.off(signal, abort);
    },
  };
}

/**
 * Output as it comes: to a file or a pipe byte for byte, to the person's terminal filtered as that of a program on a terminal. A reader
 * that went away is not our mistake; the program runs to its end.
 */
export function passingStreams(passes: readonly TerminalPass[]): {
  readonly streams: ExecStreams;
  /** Switches off what the program left on. */
  putBack(): void;
  release(): void;
} {
  const { signal, release } = cancelOnSignals();
  const terminals = ([1, 2] as const).filter((one) => isTerminal(one));
  const filters = new Map(terminals.map((one) => [one, new TerminalFilter(passes, true)] as const));
  const sink =
    (descriptor: Descriptor) =>
    (bytes: Uint8Array): void =>
      writeBytes(descriptor, filters.get(descriptor)?.write(bytes).output ?? bytes);
  let isPutBack = false;
  const putBack = (): void => {
    if (isPutBack) return;
    isPutBack = true;
    for (const [descriptor, { modes }] of filters) writeBytes(descriptor, Buffer.from(modes.undone()));
  };
  return {
    streams: { input: process.stdin, output: sink(1), errors: sink(2), signal },
    putBack,
    release: () => {
      putBack();
      release();
      process.stdin.destroy();
    },
  };
}

/** What was kept as text, and how much of it was not. */
export interface OutputBuffer {
  readonly output: string;
  readonly errors: string;
  readonly outputCut: number;
}

/** For `--json`: nothing to read, and all output kept up to a bound. */
export function captureStreams(bytesMax: number): {
  readonly streams: ExecStreams;
  kept(): OutputBuffer;
  putBack(): void;
  release(): void;
} {
  const output = new OutputTail(bytesMax);
  const errors = new OutputTail(bytesMax);
  const { signal, release } = cancelOnSignals();
  return {
    streams: {
      input: null,
      output: (bytes) => output.add(bytes),
      errors: (bytes) => errors.add(bytes),
      signal,
    },
    kept: () => ({ output: output.text(), errors: errors.text(), outputCut: output.cut + errors.cut }),
    putBack: () => undefined,
    release,
  };
}

class OutputTail {
  readonly #bytesMax: number;
  readonly #parts: Uint8Array[] = [];
  #length = 0;
  cut = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(bytes: Uint8Array): void {
    const part = bytes.slice(0, this.#bytesMax - this.#length);
    this.#parts.push(part);
    this.#length += part.length;
    this.cut += bytes.length - part.length;
  }

  text(): string {
    return Buffer.concat(this.#parts).toString("utf8");
  }
}

const waitMilliseconds = 5;

/** All of it, however slowly the other side takes it: the program is held back meanwhile. */
export function writeBytes(descriptor: 1 | 2, bytes: Uint8Array): void {
  let rest = bytes;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMilliseconds);
    }
  }
}

type Descriptor = 1 | 2;

/** Output of a script as it comes: to a pipe byte for byte, to a terminal in lines that it cannot obey. */
export class CallOutput {
  readonly #terminals: ReadonlyMap<Descriptor, TerminalLines>;

  constructor() {
    const all = ([1, 2] as const).filter((one) => isTerminal(one));
    this.#terminals = new Map(all.map((one) => [one, new TerminalLines(one)]));
  }

  /** Returns once it is written: a slow reader slows the script down. */
  write(descriptor: Descriptor, bytes: Uint8Array): void {
    const terminal = this.#terminals.get(descriptor);
    if (terminal === undefined) writeBytes(descriptor, bytes);
    else terminal.write(bytes);
  }

  end(): void {
    for (const terminal of this.#terminals.values()) terminal.end();
  }
}

/** A longer line is shown in pieces. */
const lineCharactersMax = 65_536;

class TerminalLines {
  readonly #descriptor: Descriptor;
  readonly #decoder = new StringDecoder("utf8");
  #line = "";

  constructor(descriptor: Descriptor) {
    this.#descriptor = descriptor;
  }

  write(bytes: Uint8Array): void {
    const lines = (this.#line + this.#decoder.write(Buffer.from(bytes))).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#print(`${visibleText(line)}\n`);
    if (this.#line.length > lineCharactersMax) this.#flush();
  }

  end(): void {
    this.#line += this.#decoder.end();
    if (this.#line !== "") this.#line += "\n";
    this.write(new Uint8Array(0));
  }

  #flush(): void {
    this.#print(visibleText(this.#line));
    this.#line = "";
  }

  #print(text: string): void {
    writeBytes(this.#descriptor, Buffer.from(text));
  }
}
