// The few DNS messages we support: one question in, one answer out. Strict, because the client is hostile.
import { questionBytesMax } from "../limits.ts";

export interface Question {
  /** Echoed unchanged: id, recursion flag, and the question with its case. */
  readonly identity: number;
  readonly recursion: boolean;
  readonly echo: Uint8Array;
  /** Lower case, without a trailing dot; null where a label has a character that no host name has. */
  readonly name: string | null;
  /** A printable form of the name: other bytes escaped. */
  readonly shown: string;
  readonly type: number;
  readonly extended: boolean;
}

export const RECORD = { address: 1, pointer: 12, address6: 28, extension: 41 } as const;
export const RESPONSE = { done: 0, malformed: 1, absent: 3, unsupported: 4, refused: 5 } as const;

export type ParsedQuery =
  | { readonly kind: "question"; readonly question: Question }
  /** A malformed query: answered with its id only. */
  | { readonly kind: "malformed"; readonly identity: number; readonly response: number }
  /** Not a query: no answer, so that two name servers never talk to each other. */
  | { readonly kind: "nothing" };

const headerBytes = 12;
const CLASS_INTERNET = 1;

export function readQuestion(bytes: Uint8Array): ParsedQuery {
  if (bytes.length < headerBytes || bytes.length > questionBytesMax) return { kind: "nothing" };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const identity = view.getUint16(0);
  const flags = view.getUint16(2);
  if ((flags & 0x8000) !== 0) return { kind: "nothing" };
  const malformed: ParsedQuery = { kind: "malformed", identity, response: RESPONSE.malformed };
  if ((flags & 0x7800) !== 0) return { kind: "malformed", identity, response: RESPONSE.unsupported };
  // One question, no answers; at most the EDNS record.
  if (view.getUint16(4) !== 1 || view.getUint32(6) !== 0 || view.getUint16(10) > 1) return malformed;
  const labels = readLabels(bytes);
  if (labels === null || labels.end + 4 > bytes.length) return malformed;
  const type = view.getUint16(labels.end);
  if (view.getUint16(labels.end + 2) !== CLASS_INTERNET) return malformed;
  const end = labels.end + 4;
  const extended = view.getUint16(10) === 1;
  if (extended ? !isExtension(view, end) : end !== bytes.length) return malformed;
  const question: Question = {
    identity,
    recursion: (flags & 0x0100) !== 0,
    echo: bytes.subarray(headerBytes, end),
    name: labels.name,
    shown: labels.shown,
    type,
    extended,
  };
  return { kind: "question", question };
}

interface Labels {
  readonly name: string | null;
  readonly shown: string;
  readonly end: number;
}

/** A name label by label. Compression pointers are not allowed in a question. */
function readLabels(bytes: Uint8Array): Labels | null {
  const labels: string[] = [];
  const shown: string[] = [];
  let isHost = true;
  let at = headerBytes;
  for (;;) {
    const length = bytes[at];
    if (length === undefined || length > 63) return null;
    at++;
    if (length === 0) break;
    const label = bytes.subarray(at, at + length);
    if (label.length !== length) return null;
    at += length;
    // 255 bytes including every length byte and the final zero.
    if (at - headerBytes > 254) return null;
    const text = String.fromCharCode(...label).toLowerCase();
    if (!/^[a-z0-9_-]+$/.test(text)) isHost = false;
    labels.push(text);
    shown.push(text.replace(/[^a-z0-9_-]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`));
  }
  return { name: isHost && labels.length > 0 ? labels.join(".") : null, shown: shown.join("."), end: at };
}

/** The root name, the type, sizes, and data that end exactly at the end. */
function isExtension(view: DataView, at: number): boolean {
  if (at + 11 > view.byteLength) return false;
  const isOurs = view.getUint8(at) === 0 && view.getUint16(at + 1) === RECORD.extension;
  return isOurs && at + 11 + view.getUint16(at + 9) === view.byteLength;
}

const secondsToLive = 30;

/** `address`: four bytes, or null for an empty answer. */
export function answerTo(question: Question, response: number, address: Uint8Array | null): Uint8Array {
  const extension = question.extended ? 11 : 0;
  const bytes = new Uint8Array(headerBytes + question.echo.length + (address === null ? 0 : 16) + extension);
  const view = header(bytes, question.identity, response);
  if (question.recursion) bytes[2] = (bytes[2] as number) | 0x01;
  view.setUint16(4, 1);
  view.setUint16(6, address === null ? 0 : 1);
  view.setUint16(10, question.extended ? 1 : 0);
  bytes.set(question.echo, headerBytes);
  let at = headerBytes + question.echo.length;
  if (address !== null) {
    view.setUint16(at, 0xc000 | headerBytes);
    view.setUint16(at + 2, RECORD.address);
    view.setUint16(at + 4, CLASS_INTERNET);
    view.setUint32(at + 6, secondsToLive);
    view.setUint16(at + 10, 4);
    bytes.set(address, at + 12);
    at += 16;
  }
  if (question.extended) {
    view.setUint16(at + 1, RECORD.extension);
    view.setUint16(at + 3, questionBytesMax);
  }
  return bytes;
}

export function answerMalformed(identity: number, response: number): Uint8Array {
  const bytes = new Uint8Array(headerBytes);
  header(bytes, identity, response);
  return bytes;
}

function header(bytes: Uint8Array, identity: number, response: number): DataView {
  const view = new DataView(bytes.buffer);
  view.setUint16(0, identity);
  view.setUint16(2, 0x8080 | response);
  return view;
}
