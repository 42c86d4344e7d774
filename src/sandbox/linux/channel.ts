// The control descriptor from the daemon's side: frames in, frames out, and one end event for any reason.
import type { Duplex } from "node:stream";
import { type Answer, readAnswer } from "../plan/start/answers.ts";
import { FrameCutter } from "../plan/start/frame.ts";

export interface ChannelListener {
  answered(answer: Answer): void;
  /** Called once. `odd`: the other side violated the protocol and was disconnected. */
  ended(odd: boolean): void;
}

export class Channel {
  readonly #socket: Duplex;
  readonly #listener: ChannelListener;
  readonly #cutter = new FrameCutter();
  #isOver = false;
  /** Consumers that are not ready for more. */
  #holds = 0;
  #isReleased = false;
  /** Counts commands, so that a consumer of an earlier command does not pause a later one. */
  #command = 0;

  constructor(socket: Duplex, listener: ChannelListener) {
    this.#socket = socket;
    this.#listener = listener;
    socket.on("data", (chunk: Uint8Array) => this.#received(chunk));
    socket.on("close", () => this.#end(false));
    // The close event follows and covers every error.
    socket.on("error", () => {});
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  write(bytes: Uint8Array): void {
    if (!this.#isOver) this.#socket.write(bytes);
  }

  /** Whether written bytes are still buffered. */
  get isFull(): boolean {
    return this.#socket.writableLength > 0;
  }

  /** Resolves when the buffered bytes were sent, or never will be. */
  async drained(): Promise<void> {
    if (this.#isOver || !this.#socket.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#socket.off("drain", done).off("close", done);
        resolve();
      };
      this.#socket.once("drain", done).once("close", done);
    });
  }

  /** Whether reading is paused for a consumer. */
  get isPaused(): boolean {
    return this.#holds > 0 && !this.#isReleased;
  }

  /** Backpressure: pauses reading until the consumer is ready. The program inside then blocks when it writes. */
  hold(ready: Promise<void>): void {
    if (this.#holds++ === 0 && !this.#isReleased) this.#socket.pause();
    const command = this.#command;
    const free = (): void => {
      if (command === this.#command && --this.#holds === 0 && !this.#isReleased) this.#socket.resume();
    };
    void ready.then(free, free);
  }

  /** Resumes reading although consumers are not ready: further output of the command is discarded. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (this.#holds > 0) this.#socket.resume();
  }

  /** The command ended: its consumers do not pause the output of the next command in this sandbox. */
  commandEnded(): void {
    this.#command++;
    const isPaused = this.isPaused;
    this.#holds = 0;
    this.#isReleased = false;
    if (isPaused) this.#socket.resume();
  }

  /** Sends end of file to the other side, which exits on it. */
  close(): void {
    this.#socket.destroy();
    this.#end(false);
  }

  #received(chunk: Uint8Array): void {
    for (const frame of this.#cutter.push(chunk) ?? [null]) {
      // A listener may have closed the channel while it handled the previous frame.
      if (this.#isOver) return;
      const answer = frame === null ? null : readAnswer(frame);
      if (answer === null) {
        this.#socket.destroy();
        this.#end(true);
      } else this.#listener.answered(answer);
    }
  }

  #end(odd: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.ended(odd);
  }
}
