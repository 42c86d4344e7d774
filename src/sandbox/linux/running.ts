// One command under way in a sandbox: sent when its time has come, stopped when asked, settled once.
import type { RunRefusal, Sinks } from "../../core/ports/process.ts";
import { endFrame } from "../plan/command.ts";
import type { Stop } from "../plan/sandboxes.ts";
import type { Done } from "../plan/start/answers.ts";
import type { Channel } from "./channel.ts";
import { feed } from "./input.ts";

/** A command as it is sent, and where what it says goes. */
export interface Order {
  readonly frame: Uint8Array;
  readonly input: AsyncIterable<Uint8Array> | null;
  readonly sinks: Sinks;
  readonly stop: Stop | null;
}

export type Outcome =
  | { readonly kind: "done"; readonly done: Done }
  /** The sandbox went away under the command: we ended it for this reason, or somebody else did. */
  | { readonly kind: "broken"; readonly because: Because }
  /** Nothing was run. */
  | { readonly kind: "unavailable"; readonly refused: RunRefusal };

export type Because = "time" | "stopped" | null;

/** For the program inside to end a command by itself, after its time or our word. */
const graceMilliseconds = 5_000;

export class Running {
  readonly #order: Order;
  readonly #channel: Channel;
  /** Broken only by what a sink threw. */
  readonly outcome: Promise<Outcome>;
  #resolve: (outcome: Outcome) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #isSent = false;
  #isSettled = false;
  #because: Because = null;
  #sinkError: { readonly error: unknown } | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** The command is being ended: its end must not wait for a consumer that is not ready. */
  #isDiscarding = false;

  constructor(order: Order, channel: Channel) {
    this.#order = order;
    this.#channel = channel;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    order.stop?.onStop(() => this.#stop());
  }

  get isSent(): boolean {
    return this.#isSent;
  }

  /** Why we ended the sandbox, if it was us. */
  get because(): Because {
    return this.#because;
  }

  /** Once. `milliseconds`: after which the program inside ends it; 0 for never. */
  send(milliseconds: number): void {
    if (this.#isSent) return;
    this.#isSent = true;
    this.#channel.write(this.#order.frame);
    if (milliseconds > 0) this.#watch("time", milliseconds + graceMilliseconds);
    if (this.#order.stop?.stopped === true) this.#stop();
    if (this.#order.input !== null) void this.#feed(this.#order.input);
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

  /** An input that broke off is not one that ended. */
  async #feed(input: AsyncIterable<Uint8Array>): Promise<void> {
    if (!(await feed(input, this.#channel, () => this.#isSettled || this.#channel.isOver))) this.#stop();
  }

  #stop(): void {
    if (this.#isSettled || !this.#isSent) return;
    this.#discard();
    // Behind input that nobody reads the word would never be heard.
    if (this.#channel.isFull) this.#break("stopped");
    else {
      this.#channel.write(endFrame());
      this.#watch("stopped", graceMilliseconds);
    }
  }

  /** If the program inside does not end the command, its own end does. */
  #watch(because: Because, milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // The program inside may have ended it long ago: its word waits behind output that no consumer took.
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

  #break(because: Because): void {
    this.#because = because;
    this.#channel.close();
  }
}
