// Decodes valid UTF-8; null for anything else.

/** The replacement character: an invalid byte decodes to it, but the text may also contain it. */
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
