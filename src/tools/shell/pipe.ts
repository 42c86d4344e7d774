// What stands between two commands of a pipeline. Bytes wait in it until the second asks for them; there is no way to slow
// the first one down, so what may wait is bounded, and past the bound the first is stopped.
import { pipeBytesMax } from "./limits.ts";
import type { WaitingRoom } from "./waiting-room.ts";

export class Pipe {
  readonly #waiting: Uint8Array[] = [];
  #bytes = 0;
  #state: "open" | "ended" | "broken" = "open";
  #isClosed = false;
  #wake: () => void = () => {};
  readonly #stopWriter: (why: "reader" | "full") => void;
  readonly #room: WaitingRoom;

  /** `stopWriter`: rung when it writes although nobody reads any more, or more than may wait. */
  constructor(stopWriter: (why: "reader" | "full") => void, room: WaitingRoom) {
    this.#stopWriter = stopWriter;
    this.#room = room;
  }

  write(bytes: Uint8Array): void {
    if (this.#state !== "open") return;
    // As a signal would: a writer is stopped when it writes, not when its reader goes.
    if (this.#isClosed) this.#stopWriter("reader");
    else if (this.#bytes + bytes.length > pipeBytesMax || !this.#room.take(bytes.length)) {
      this.break();
      this.#stopWriter("full");
    } else {
      this.#waiting.push(bytes);
      this.#bytes += bytes.length;
      this.#wake();
    }
  }

  /** Nothing more comes. */
  end(): void {
    if (this.#state === "open") this.#state = "ended";
    this.#wake();
  }

  /** What was written is not all of it: whoever reads must not take it for that. */
  break(): void {
    if (this.#state === "open") this.#state = "broken";
    this.#wake();
  }

  /** Nobody reads any more. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.splice(0);
    this.#room.give(this.#bytes);
    this.#bytes = 0;
    this.#wake();
  }

  /** Throws where it broke: an input that broke off is not one that ended. */
  async *read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#isClosed) return;
      const next = this.#waiting.shift();
      if (next !== undefined) {
        this.#bytes -= next.length;
        this.#room.give(next.length);
        yield next;
      } else if (this.#state === "broken") throw new Error("the input broke off");
      else if (this.#state === "ended") return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
