// Text to bytes and back. Written out, because a pure room has no encoder; the same answers as the encoding's standard.

const REPLACEMENT = 0xfffd;

/** Lone surrogates become the replacement character. */
export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    let code = text.codePointAt(at) as number;
    if (code > 0xffff) at++;
    else if (code >= 0xd800 && code <= 0xdfff) code = REPLACEMENT;
    if (code < 0x80) bytes[length++] = code;
    else if (code < 0x800) {
      bytes[length++] = 0xc0 | (code >> 6);
      bytes[length++] = 0x80 | (code & 0x3f);
    } else if (code < 0x10000) {
      bytes[length++] = 0xe0 | (code >> 12);
      bytes[length++] = 0x80 | ((code >> 6) & 0x3f);
      bytes[length++] = 0x80 | (code & 0x3f);
    } else {
      bytes[length++] = 0xf0 | (code >> 18);
      bytes[length++] = 0x80 | ((code >> 12) & 0x3f);
      bytes[length++] = 0x80 | ((code >> 6) & 0x3f);
      bytes[length++] = 0x80 | (code & 0x3f);
    }
  }
  return bytes.slice(0, length);
}

const chunkUnits = 8192;

/** What is no UTF-8 becomes the replacement character, one for each longest beginning of a character. No mark of byte order. */
export function textOf(bytes: Uint8Array): string {
  const parts: string[] = [];
  let units: number[] = [];
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  for (let at = hasMark ? 3 : 0; at < bytes.length; ) {
    const first = bytes[at] as number;
    if (first < 0x80) {
      units.push(first);
      at++;
    } else {
      const { code, length } = characterAt(bytes, at, first);
      at += length;
      if (code < 0x10000) units.push(code);
      else units.push(0xd7c0 + (code >> 10), 0xdc00 | (code & 0x3ff));
    }
    if (units.length >= chunkUnits) {
      parts.push(String.fromCharCode(...units));
      units = [];
    }
  }
  parts.push(String.fromCharCode(...units));
  return parts.join("");
}

/** The second byte's bounds keep out overlong forms, surrogates and what lies past the last character. */
function characterAt(bytes: Uint8Array, at: number, first: number): { readonly code: number; readonly length: number } {
  const wanted =
    first >= 0xc2 && first <= 0xdf ? 1 : first >= 0xe0 && first <= 0xef ? 2 : first >= 0xf0 && first <= 0xf4 ? 3 : 0;
  if (wanted === 0) return { code: REPLACEMENT, length: 1 };
  let code = first & (wanted === 1 ? 0x1f : wanted === 2 ? 0x0f : 0x07);
  for (let step = 1; step <= wanted; step++) {
    const next = bytes[at + step];
    const low = step === 1 && first === 0xe0 ? 0xa0 : step === 1 && first === 0xf0 ? 0x90 : 0x80;
    const high = step === 1 && first === 0xed ? 0x9f : step === 1 && first === 0xf4 ? 0x8f : 0xbf;
    if (next === undefined || next < low || next > high) return { code: REPLACEMENT, length: step };
    code = (code << 6) | (next & 0x3f);
  }
  return { code, length: wanted + 1 };
}
