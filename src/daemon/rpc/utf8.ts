// Text out of bytes that are UTF-8, or nothing at all.

/** What an unreadable byte becomes, and what somebody may have written as well. */
const REPLACEMENT = "\ufffd";
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function utf8Text(bytes: Buffer, start: number, end: number): string | null {
  const text = bytes.toString("utf8", start, end);
  if (!text.includes(REPLACEMENT)) return text;
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch {
    return null;
  }
}
