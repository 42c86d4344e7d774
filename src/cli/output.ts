// Text to a descriptor, at once. Node's own streams cost milliseconds to make, and a short command needs none of them.
import { fstatSync, statSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

/** What still has to be written when the descriptor does not take more now goes to the stream, which waits. */
export function writeText(descriptor: 1 | 2, text: string): void {
  let rest: Uint8Array = Buffer.from(text, "utf8");
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (codeOf(error) === "EAGAIN") (descriptor === 1 ? process.stdout : process.stderr).write(rest);
      // Nobody reads any more (`ambit ... | head`), or nothing is there: the exit status still says how it ended.
      return;
    }
  }
}

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

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
