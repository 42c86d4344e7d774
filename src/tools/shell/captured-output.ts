// Captures a program's output as two texts. INVARIANT: the captured size is bounded, and dropped bytes are counted.
import { StringDecoder } from "node:string_decoder";
import type { Sinks } from "../../core/ports/process.ts";

const capturedBytesMax = 1_048_576;

export class CapturedOutput {
  #output = "";
  #errors = "";
  #bytes = 0;
  dropped = 0;
  readonly sinks: Sinks;

  constructor() {
    // A character may be split over two chunks.
    const [output, errors] = [new StringDecoder("utf8"), new StringDecoder("utf8")];
    this.sinks = {
      output: (bytes) => {
        this.#output += output.write(this.#kept(bytes));
      },
      errors: (bytes) => {
        this.#errors += errors.write(this.#kept(bytes));
      },
    };
  }

  get output(): string {
    return this.#output;
  }

  get errors(): string {
    return this.#errors;
  }

  #kept(bytes: Uint8Array): Buffer {
    const room = Math.max(0, capturedBytesMax - this.#bytes);
    const kept = bytes.subarray(0, room);
    this.#bytes += kept.length;
    this.dropped += bytes.length - kept.length;
    return Buffer.from(kept.buffer, kept.byteOffset, kept.length);
  }
}
