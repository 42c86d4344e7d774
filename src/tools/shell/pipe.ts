// The buffer between two commands of a pipeline. A writer that is faster than its reader waits (backpressure); a writer whose
// reader is gone is stopped when it writes next, as SIGPIPE would stop it. The buffer is bounded even if a writer does not wait.

import type { BufferBudget } from "./buffer-budget.ts";
import { pipeBytesMax, pipeBytesUsual } from "./language/limits.ts";

export class Pipe {
  readonly #waiting: Uint8Array[] = [];
  #bytes = 0;
  #state: "open" | "ended" | "broken" = "open";
  #isClosed = false;
  #wakeReader: () => void = () => {};
  #wakeWriter: (() => void) | null = null;
  #writable: Promise<void> | null = null;
  readonly #stopWriter: (why: "reader" | "full") => void;
  readonly #room: BufferBudget;

  /** `stopWriter` is called when the writer writes after the reader closed, or does not wait and exceeds the bound. */
  constructor(stopWriter: (why: "reader" | "full") => void, room: BufferBudget) {
    this.#stopWriter = stopWriter;
    this.#room = room;
  }

  /** A promise is backpressure: write again once it resolves. */
  write(bytes: Uint8Array): void | Promise<void> {
    if (this.#state !== "open") return;
    // A signal reaches a writer when it writes, not when its reader exits.
    if (this.#isClosed) this.#stopWriter("reader");
    else if (this.#bytes + bytes.length > pipeBytesMax || !this.#room.take(bytes.length)) {
      this.break();
      this.#stopWriter("full");
    } else {
      this.#waiting.push(bytes);
      this.#bytes += bytes.length;
      this.#wakeReader();
      return this.#backpressure();
    }
  }

  /** No more bytes follow. */
  end(): void {
    if (this.#state === "open") this.#state = "ended";
    this.#wakeReader();
    this.#releaseWriter();
  }

  /** The output is incomplete: the reader must not take it for the whole. */
  break(): void {
    if (this.#state === "open") this.#state = "broken";
    this.#wakeReader();
    this.#releaseWriter();
  }

  /** The reader has closed its end. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.splice(0);
    this.#room.give(this.#bytes);
    this.#bytes = 0;
    this.#wakeReader();
    this.#releaseWriter();
  }

  /** Throws if the pipe broke: a broken input is not a complete one. */
  async *read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#isClosed) return;
      const next = this.#waiting.shift();
      if (next !== undefined) {
        this.#bytes -= next.length;
        this.#room.give(next.length);
        if (this.#bytes <= pipeBytesUsual / 2) this.#releaseWriter();
        yield next;
      } else if (this.#state === "broken") throw new Error("the input was interrupted");
      else if (this.#state === "ended") return;
      else
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve;
        });
    }
  }

  #backpressure(): Promise<void> | undefined {
    if (this.#bytes < pipeBytesUsual) return undefined;
    this.#writable ??= new Promise((resolve) => {
      this.#wakeWriter = resolve;
    });
    return this.#writable;
  }

  #releaseWriter(): void {
    this.#wakeWriter?.();
    this.#wakeWriter = null;
    this.#writable = null;
  }
}
