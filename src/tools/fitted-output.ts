// What programs wrote, cut to what one message holds. INVARIANT: what is cut is counted.

export interface Written {
  readonly output: string;
  readonly errors: string;
  /** Bytes that were not kept in the first place. */
  readonly dropped: number;
}

/** As JSON; a message holds it, and what else an answer says. */
const outputBytesMax = 720_896;

export function fittedOutput({ output, errors, dropped }: Written): {
  readonly stdout: string;
  readonly stderr: string;
  readonly dropped: number;
} {
  // Errors are short, and say why: they come first where there is not room for both.
  const stderr = fitted(errors, outputBytesMax / 2);
  const stdout = fitted(output, outputBytesMax - stderr.bytes);
  const cut = Buffer.byteLength(errors) + Buffer.byteLength(output);
  const kept = Buffer.byteLength(stderr.text) + Buffer.byteLength(stdout.text);
  return { stdout: stdout.text, stderr: stderr.text, dropped: dropped + cut - kept };
}

/** The longest beginning that is no longer than this as JSON. */
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
  // Half a character is none.
  const end = /[\ud800-\udbff]/.test(text.charAt(low - 1)) ? low - 1 : low;
  return { text: text.slice(0, end), bytes: size(end) };
}
