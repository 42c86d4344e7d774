// Decodes a response body by its type and charset, or refuses it.
import { typeCharactersMax } from "./limits.ts";

export type ContentKind = "html" | "json" | "text";

export type Content =
  | { readonly ok: true; readonly kind: ContentKind; readonly type: string | null; readonly text: string }
  | { readonly ok: false; readonly type: string | null };

/** `isCut`: the body is truncated; an incomplete character at the end is left out. */
export function contentOf(header: string | null, bytes: Uint8Array, isCut: boolean): Content {
  const { type, charset } = readType(header);
  const kind = type === null ? (isBinary(bytes) ? null : "text") : kindOf(type);
  if (kind === null) return { ok: false, type };
  const decoder = decoderOf(charset, kind, bytes);
  // Binary content despite a text type.
  if (decoder.encoding.startsWith("utf-16") ? bytes.length % 2 === 1 && !isCut : isBinary(bytes))
    return { ok: false, type };
  const text = decoder.decode(bytes, { stream: isCut });
  return { ok: true, kind, type, text: decoder.encoding === "windows-1252" ? windowsText(text) : text };
}

/** From 0x80 on; five of them are undefined. */
const WINDOWS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** Some releases of Node decode it as Latin 1. Correctly decoded text is unchanged. */
function windowsText(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (one) => WINDOWS[one.charCodeAt(0) - 0x80] ?? one);
}

function readType(header: string | null): { readonly type: string | null; readonly charset: string | null } {
  const [essence = "", ...parameters] = (header ?? "").slice(0, 1024).split(";");
  const type = essence.trim().toLowerCase();
  const isType = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(type) && type.length <= typeCharactersMax;
  const charset = parameters
    .map((one) => /^\s*charset\s*=\s*"?([A-Za-z0-9_:.+-]{1,40})"?\s*$/i.exec(one)?.[1])
    .find((one) => one !== undefined);
  return { type: isType ? type : null, charset: charset ?? null };
}

const TEXTS: ReadonlySet<string> = new Set(
  ["xml", "javascript", "ecmascript", "x-javascript", "yaml", "x-yaml", "toml", "graphql", "sql", "x-sh", "x-ndjson"]
    .concat(["x-www-form-urlencoded", "rtf", "x-tex", "x-httpd-php", "pgp-signature", "pem-certificate-chain"])
    .map((one) => `application/${one}`),
);

function kindOf(type: string): ContentKind | null {
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (type === "application/json" || type === "text/json" || type.endsWith("+json")) return "json";
  return type.startsWith("text/") || type.endsWith("+xml") || type.endsWith("+yaml") || TEXTS.has(type) ? "text" : null;
}

const sniffedBytesMax = 4096;
const headBytesMax = 2048;

/** Text in a single-byte encoding contains no NUL. */
function isBinary(bytes: Uint8Array): boolean {
  return !hasMark(bytes) && bytes.subarray(0, sniffedBytesMax).includes(0);
}

function hasMark([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** The byte order mark takes precedence, then the header, then the page itself. */
function decoderOf(charset: string | null, kind: ContentKind, bytes: Uint8Array): InstanceType<typeof TextDecoder> {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return new TextDecoder("utf-8");
  if (hasMark(bytes)) return new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be");
  const said = charset ?? (kind === "html" ? charsetInPage(bytes) : null);
  if (said !== null)
    try {
      return new TextDecoder(said);
    } catch {
      // An unknown charset.
    }
  return new TextDecoder("utf-8");
}

function charsetInPage(bytes: Uint8Array): string | null {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, headBytesMax));
  const said = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})/i.exec(head)?.[1] ?? null;
  // A page whose declaration is readable as ASCII is not UTF-16.
  return said !== null && /^utf-?16/i.test(said) ? "utf-8" : said;
}
