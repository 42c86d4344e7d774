// Truncates the output of programs to what fits in one message. INVARIANT: dropped bytes are counted.
import type { Ending } from "../core/ports/process.ts";

export interface ProgramOutput {
  readonly output: string;
  readonly errors: string;
  /** Bytes that were dropped before. */
  readonly dropped: number;
}

/** As JSON; a message has room for it and the rest of an answer. */
const outputBytesMax = 720_896;

export function fitOutput({ output, errors, dropped }: ProgramOutput): {
  readonly stdout: string;
  readonly stderr: string;
  readonly dropped: number;
} {
  // Errors are short and explain the failure, so they come first if there is not room for both.
  const stderr = fitted(errors, outputBytesMax / 2);
  const stdout = fitted(output, outputBytesMax - stderr.bytes);
  const cut = Buffer.byteLength(errors) + Buffer.byteLength(output);
  const kept = Buffer.byteLength(stderr.text) + Buffer.byteLength(stdout.text);
  return { stdout: stdout.text, stderr: stderr.text, dropped: dropped + cut - kept };
}

/** Null for a program that did not exit by itself. */
export function exitCode(ending: Ending): number | null {
  return ending.kind === "exited" ? ending.status : null;
}

/** The longest prefix that is no longer than this as JSON. */
export function fitted(text: string, bytesMax: number): { readonly text: string; readonly bytes: number } {
  const size = (length: number): number => Buffer.byteLength(JSON.stringify(text.slice(0, length)));
  const whole = size(text.length);
  if (whole <= bytesMax) return { text, bytes: whole };
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (size(middle) <= bytesMax) low = middle;
    else high = middle - 1;
  }
  // Not between two surrogates.
  const end = /[\ud800-\udbff]/.test(text.charAt(low - 1)) ? low - 1 : low;
  return { text: text.slice(0, end), bytes: size(end) };
}
