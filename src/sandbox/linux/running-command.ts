// One running command in a sandbox: sent once, stopped on request, settled once.
import { onAbort } from "../../core/base/abort.ts";
import type { RunRefusal, Sinks, TerminalRequest } from "../../core/ports/process.ts";
import { continueFrame, endFrame, resizeFrame } from "../plan/command.ts";
import type { DoneAnswer } from "../plan/start/answers.ts";
import type { Channel } from "./channel.ts";
import { feed } from "./input.ts";

/** A command's frame, its input and its sinks. */
export interface CommandOrder {
  readonly frame: Uint8Array;
  readonly input: AsyncIterable<Uint8Array> | null;
  readonly terminal: TerminalRequest | null;
  readonly sinks: Sinks;
  readonly signal: AbortSignal | null;
}

export type Outcome =
  | { readonly kind: "done"; readonly done: DoneAnswer }
  /** The sandbox ended under the command: ended by us for this reason, or by another process. */
  | { readonly kind: "broken"; readonly because: StopReason }
  /** The command did not start. */
  | { readonly kind: "unavailable"; readonly refused: RunRefusal };

export type StopReason = "time" | "stopped" | null;

/** How long the program inside may take to end a command by itself, after a timeout or a stop. */
const graceMilliseconds = 5_000;

export class RunningCommand {
  readonly #order: CommandOrder;
  readonly #channel: Channel;
  /** Rejects only with what a sink threw. */
  readonly outcome: Promise<Outcome>;
  #resolve: (outcome: Outcome) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #isSent = false;
  #isSettled = false;
  #because: StopReason = null;
  #sinkError: { readonly error: unknown } | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** The command is being stopped: its end must not wait for a consumer that is not ready. */
  #isDiscarding = false;

  constructor(order: CommandOrder, channel: Channel) {
    this.#order = order;
    this.#channel = channel;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (order.signal !== null) onAbort(order.signal, () => this.#stop());
  }

  get isSent(): boolean {
    return this.#isSent;
  }

  /** Why we ended the sandbox, if we did. */
  get because(): StopReason {
    return this.#because;
  }

  /** Called once. `milliseconds`: timeout enforced by the program inside; 0 for none. */
  send(milliseconds: number): void {
    if (this.#isSent) return;
    this.#isSent = true;
    this.#channel.write(this.#order.frame);
    if (milliseconds > 0) this.#watch("time", milliseconds + graceMilliseconds);
    if (this.#order.signal?.aborted === true) this.#stop();
    if (this.#order.input !== null) void this.#feed(this.#order.input);
    this.#order.terminal?.attach({
      resize: (size) => this.#tell(resizeFrame(size)),
      resume: () => this.#tell(continueFrame()),
    });
  }

  halted(): void {
    this.#order.terminal?.onHalt();
  }

  #tell(frame: Uint8Array): void {
    if (!this.#isSettled) this.#channel.write(frame);
  }

  pass(kind: "output" | "errors", bytes: Uint8Array): void {
    if (this.#sinkError !== null || this.#isDiscarding) return;
    try {
      const ready = this.#order.sinks[kind](bytes);
      if (ready instanceof Promise) this.#channel.hold(ready);
    } catch (error) {
      this.#sinkError = { error };
      this.#stop();
    }
  }

  settle(outcome: Outcome): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#channel.commandEnded();
    if (this.#sinkError === null) this.#resolve(outcome);
    else this.#reject(this.#sinkError.error);
  }

  /** A failed input is not the end of an input. */
  async #feed(input: AsyncIterable<Uint8Array>): Promise<void> {
    if (!(await feed(input, this.#channel, () => this.#isSettled || this.#channel.isOver))) this.#stop();
  }

  #stop(): void {
    if (this.#isSettled || !this.#isSent) return;
    this.#discard();
    // The stop frame would be stuck behind input that the command does not read.
    if (this.#channel.isFull) this.#break("stopped");
    else {
      this.#channel.write(endFrame());
      this.#watch("stopped", graceMilliseconds);
    }
  }

  /** If the program inside does not end the command, ending the sandbox does. */
  #watch(because: StopReason, milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // The program inside may have ended it already: its report waits behind output that no consumer took.
      if (this.#channel.isPaused) {
        this.#discard();
        this.#watch(because, graceMilliseconds);
      } else this.#break(because);
    }, milliseconds);
  }

  #discard(): void {
    this.#isDiscarding = true;
    this.#channel.release();
  }

  #break(because: StopReason): void {
    this.#because = because;
    this.#channel.close();
  }
}
