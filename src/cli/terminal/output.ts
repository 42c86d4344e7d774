// Text to a descriptor, at once. Node's own streams cost milliseconds to make, and a short command needs none of them.

import { fstatSync, statSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { errorCode } from "../../core/base/error-code.ts";

type Descriptor = 1 | 2;

/** INVARIANT: what is written to one descriptor arrives in its order, also when the descriptor is slow. */
export class Output {
  /** Descriptors that did not take all of it: what follows goes the same way, behind it. */
  readonly #waiting = new Set<Descriptor>();

  #hasFailed = false;

  /** Something could not be written where it was to be kept. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Something is still on its way, and ends with the process if that is ended now. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  write(descriptor: Descriptor, text: string): void {
    let rest: Uint8Array = Buffer.from(text, "utf8");
    while (rest.length > 0 && !this.#waiting.has(descriptor)) {
      try {
        rest = rest.subarray(writeSync(descriptor, rest));
      } catch (error) {
        // The reader is gone (`ambit ... | head`) or the descriptor is closed: the exit status is still right.
        if (["EPIPE", "EBADF", "EIO"].includes(errorCode(error))) return;
        // A full disk lost output, so the command has to fail.
        if (errorCode(error) !== "EAGAIN") {
          this.#hasFailed = true;
          return;
        }
        this.#waiting.add(descriptor);
      }
    }
    if (rest.length > 0) this.#queue(descriptor === 1 ? process.stdout : process.stderr, rest);
  }

  /** The stream waits until the descriptor takes more. A reader that is gone is no error here either. */
  #queue(stream: NodeJS.WriteStream, rest: Uint8Array): void {
    if (!stream.listeners("error").includes(ignored)) stream.on("error", ignored);
    stream.write(rest);
  }
}

function ignored(): void {}

/** Asked of the file system first: to ask Node loads its network, for a pipe or a file in vain. */
export function isTerminal(descriptor: 0 | 1 | 2): boolean {
  try {
    const found = fstatSync(descriptor);
    return found.isCharacterDevice() && found.rdev !== nullDevice() && isatty(descriptor);
  } catch {
    return false;
  }
}

function nullDevice(): number | undefined {
  return statSync("/dev/null", { throwIfNoEntry: false })?.rdev;
}
