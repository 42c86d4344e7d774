// The encodings in which a secret is searched. Other encodings stay undetected by nature: this is the safety net, not
// the barrier.
import { bytesOf, charactersOf, textOf } from "./utf8.ts";

const STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const LOWER = "0123456789abcdef";
const UPPER = "0123456789ABCDEF";

type Digits = string;

/** Larger secrets are rarely encoded character by character; in whole texts they are found even so. */
const spelledBytesMax = 512;

/** Every encoding once, as bytes; the plain one first. */
export function encodingsOf(secret: Uint8Array): readonly Uint8Array[] {
  const forms = [secret, reversed(secret), ...inOtherCase(secret), ...wide(secret)];
  const texts: string[] = [];
  for (const digits of [LOWER, UPPER]) {
    texts.push(hex(secret, digits));
    if (secret.length <= spelledBytesMax)
      texts.push(
        percent(secret, digits, () => false),
        ...numbered(secret, digits),
      );
    texts.push(percent(secret, digits, isComponent), percent(secret, digits, isUnreserved));
    texts.push(percent(secret, digits, isUnreserved).replaceAll("%20", "+"));
    texts.push(...entities(secret));
    for (const isAscii of [true, false]) {
      const once = json(secret, digits, isAscii);
      texts.push(once, once.replaceAll("/", "\\/"), once.replaceAll("\\", "\\\\").replaceAll('"', '\\"'));
    }
  }
  texts.push(quotedPrintable(secret));
  for (const alphabet of [STANDARD, URL_SAFE])
    for (const before of [0, 1, 2]) texts.push(base64(secret, alphabet, before));
  const seen = new Set<string>([latin(secret)]);
  for (const text of texts) {
    if (seen.has(text)) continue;
    seen.add(text);
    // Each code unit of these texts is one byte.
    forms.push(Uint8Array.from(text, (unit) => unit.charCodeAt(0)));
  }
  return forms;
}

function latin(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

function reversed(bytes: Uint8Array): Uint8Array {
  return bytes.toReversed();
}

/** As written by programs that change case: of ASCII letters only, or of all letters. */
function inOtherCase(bytes: Uint8Array): readonly Uint8Array[] {
  const forms: Uint8Array[] = [
    bytes.map((byte) => (byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte)),
    bytes.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte)),
  ];
  if (charactersOf(bytes)?.some((point) => point > 0x7f) === true) {
    const text = textOf(bytes);
    forms.push(bytesOf(text.toUpperCase()), bytesOf(text.toLowerCase()));
  }
  return forms.filter((form) => form.length !== bytes.length || form.some((byte, at) => byte !== bytes[at]));
}

/** Quoted-printable, without line breaks: those are handled when a whole text is scanned. */
function quotedPrintable(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    const isPlain = byte === 0x20 || (byte > 0x20 && byte < 0x7f && byte !== 0x3d);
    text += isPlain ? String.fromCharCode(byte) : `=${pair(byte, UPPER)}`;
  }
  return text;
}

/** UTF-16 in both byte orders. */
function wide(secret: Uint8Array): readonly Uint8Array[] {
  const points = charactersOf(secret) ?? [...secret];
  const units: number[] = [];
  for (const point of points)
    if (point > 0xffff) units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
    else units.push(point);
  return [
    Uint8Array.from(units.flatMap((unit) => [unit & 255, unit >> 8])),
    Uint8Array.from(units.flatMap((unit) => [unit >> 8, unit & 255])),
  ];
}

function hex(bytes: Uint8Array, digits: Digits): string {
  let text = "";
  for (const byte of bytes) text += pair(byte, digits);
  return text;
}

function pair(byte: number, digits: Digits): string {
  return `${digits[byte >> 4]}${digits[byte & 15]}`;
}

function percent(bytes: Uint8Array, digits: Digits, isPlain: (character: string) => boolean): string {
  let text = "";
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    text += isPlain(character) ? character : `%${pair(byte, digits)}`;
  }
  return text;
}

/** Characters left unescaped in a URL component, and by stricter encoders. */
const isComponent = (character: string): boolean => /[A-Za-z0-9\-_.!~*'()]/.test(character);
const isUnreserved = (character: string): boolean => /[A-Za-z0-9\-_.~]/.test(character);

/** The digits that do not depend on the surrounding bytes, for an offset of `before` bytes. */
function base64(bytes: Uint8Array, alphabet: string, before: number): string {
  let text = "";
  let bits = 0;
  let count = 0;
  for (const byte of [...new Array<number>(before).fill(0), ...bytes]) {
    bits = ((bits << 8) | byte) & 0xffff;
    for (count += 8; count >= 6; count -= 6) text += alphabet[(bits >> (count - 6)) & 63];
  }
  return text.slice(Math.ceil((before * 8) / 6));
}

/** As a JSON string without its quotes; with everything beyond ASCII escaped, or unchanged. */
function json(secret: Uint8Array, digits: Digits, isAscii: boolean): string {
  let text = "";
  for (const point of charactersOf(secret) ?? []) {
    const short = SHORT.get(point);
    if (short !== undefined) text += short;
    else if (point >= 0x20 && point < 0x7f) text += String.fromCharCode(point);
    else if (isAscii || point < 0x20) for (const unit of unitsOf(point)) text += `\\u${number(unit, digits)}`;
    else text += latin(bytesOf(String.fromCodePoint(point)));
  }
  return text === "" ? latin(secret) : text;
}

const SHORT: ReadonlyMap<number, string> = new Map([
  [0x08, "\\b"],
  [0x09, "\\t"],
  [0x0a, "\\n"],
  [0x0c, "\\f"],
  [0x0d, "\\r"],
  [0x22, '\\"'],
  [0x5c, "\\\\"],
]);

function unitsOf(point: number): readonly number[] {
  return point > 0xffff ? [0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff)] : [point];
}

function number(unit: number, digits: Digits): string {
  return pair(unit >> 8, digits) + pair(unit & 255, digits);
}

const NAMED: ReadonlyMap<string, readonly string[]> = new Map([
  ["&", ["&amp;", "&amp;", "&amp;", "&amp;"]],
  ["<", ["&lt;", "&lt;", "&lt;", "&lt;"]],
  [">", ["&gt;", "&gt;", "&gt;", "&gt;"]],
  ['"', ["&quot;", "&quot;", "&#34;", '"']],
  ["'", ["&#39;", "&#x27;", "&apos;", "'"]],
]);

/** HTML: only required escapes, in four common styles. */
function entities(secret: Uint8Array): readonly string[] {
  const plain = latin(secret);
  return [0, 1, 2, 3].map((habit) => plain.replace(/[&<>"']/g, (one) => NAMED.get(one)?.[habit] ?? one));
}

/** HTML: every character as a numeric reference. */
function numbered(secret: Uint8Array, digits: Digits): readonly string[] {
  const points = charactersOf(secret) ?? [...secret];
  const hexadecimal = (point: number): string => {
    const text = point.toString(16);
    return digits === UPPER ? text.toUpperCase() : text;
  };
  return [points.map((point) => `&#${point};`).join(""), points.map((point) => `&#x${hexadecimal(point)};`).join("")];
}
