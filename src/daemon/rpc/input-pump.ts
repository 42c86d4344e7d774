// Sends a request's input to the daemon, never more than the daemon's window.
import { bytesFrame, endFrame, partsOf } from "./frame.ts";
import { inputWindowBytes } from "./limits.ts";
import type { TurnWriter } from "./outgoing.ts";

export class InputPump {
  readonly #id: number;
  readonly #input: AsyncIterable<Uint8Array>;
  readonly #writer: TurnWriter;
  readonly #failed: () => void;
  readonly #isOver: Promise<void>;
  #room = inputWindowBytes;
  #wake: (() => void) | null = null;
  #over = false;
  #end: () => void = () => undefined;

  /** `failed` is called if the input fails: what was sent is incomplete. */
  constructor(id: number, input: AsyncIterable<Uint8Array>, writer: TurnWriter, failed: () => void) {
    this.#id = id;
    this.#input = input;
    this.#writer = writer;
    this.#failed = failed;
    this.#isOver = new Promise((end) => {
      this.#end = end;
    });
  }

  /** The daemon has taken that many bytes. */
  room(bytes: number): void {
    this.#room += bytes;
    this.#wake?.();
  }

  /** The input is no longer needed. */
  over(): void {
    this.#over = true;
    this.#end();
    this.#wake?.();
  }

  async run(): Promise<void> {
    const iterator = this.#input[Symbol.asyncIterator]();
    const isOver = this.#isOver.then(() => null);
    try {
      while (!this.#over) {
        // Input that never arrives must not be waited for once there is a response.
        const next = await Promise.race([iterator.next(), isOver]);
        if (next === null || next.done === true) break;
        for (const part of partsOf(next.value)) await this.#send(part);
      }
      if (!this.#over) this.#writer.frame(endFrame(this.#id, 0));
    } catch {
      this.#failed();
    } finally {
      // Not awaited: a read in progress may never finish.
      if (this.#over) void Promise.resolve(iterator.return?.()).catch(() => undefined);
    }
  }

  async #send(part: Uint8Array): Promise<void> {
    while (this.#room < part.length && !this.#over)
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    if (this.#over) return;
    this.#room -= part.length;
    this.#writer.frame(bytesFrame(this.#id, 0, part));
  }
}
