// The body of one request to the relay. It is bounded while it is received, before anything is parsed: the broker serves all
// sandboxes with one heap and one event loop, and a small text can parse into a large tree.
import type { IncomingMessage } from "node:http";

export const bodyBytesMax = 16_777_216;
/** Bodies of one sandbox, while they are received and sent. */
export const sandboxBodyBytesMax = 33_554_432;
/** Bodies of all sandboxes together. */
export const brokerBodyBytesMax = 268_435_456;
/** A long conversation with many tools has some ten thousands. */
export const bodyValuesMax = 100_000;
export const bodyDepthMax = 64;
/** A refused body is read and discarded up to this length, so that the client sees the answer. */
const discardedBytesMax = 67_108_864;
const receiveMilliseconds = 120_000;

/** Bytes in use below a maximum, and below that of the parent. */
export class ByteBudget {
  readonly #max: number;
  readonly #parent: ByteBudget | null;
  #used = 0;

  constructor(max: number, parent: ByteBudget | null = null) {
    this.#max = max;
    this.#parent = parent;
  }

  take(bytes: number): boolean {
    if (this.#used + bytes > this.#max) return false;
    if (this.#parent !== null && !this.#parent.take(bytes)) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
    this.#parent?.release(bytes);
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Counts values and nesting of a JSON text, in one pass over pieces of any length. */
export class JsonBounds {
  #isInString = false;
  #isEscaped = false;
  #values = 1;
  #depth = 0;

  /** What is exceeded; null while nothing is. A text that is no JSON is left to the parser. */
  take(bytes: Uint8Array): string | null {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
      } else if (byte === QUOTE) this.#isInString = true;
      // A list or object has one value more than it has commas.
      else if (byte === COMMA) this.#values++;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        this.#values++;
        this.#depth++;
        if (this.#depth > bodyDepthMax) return `the body is nested more than ${bodyDepthMax} levels deep`;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#depth--;
    }
    return this.#values > bodyValuesMax ? `the body has more than ${bodyValuesMax} JSON values` : null;
  }
}

export interface BodyFault {
  readonly ok: false;
  readonly status: 413 | 415 | 503;
  readonly message: string;
}

/** `held`: what it takes of the budget is added there, and the caller releases it. */
export async function receiveBody(
  request: IncomingMessage,
  budget: ByteBudget,
  held: { bytes: number },
): Promise<{ readonly ok: true; readonly body: Buffer } | BodyFault> {
  const deadline = setTimeout(() => request.destroy(), receiveMilliseconds);
  const bounds = new JsonBounds();
  let fault = mediaFault(request);
  let pieces: Buffer[] = [];
  let received = 0;
  try {
    for await (const piece of request as AsyncIterable<Buffer>) {
      received += piece.length;
      if (received > discardedBytesMax) throw new Error("the body is not complete");
      fault ??= pieceFault(piece, received, bounds, budget);
      if (fault === null) {
        held.bytes += piece.length;
        pieces.push(piece);
      } else {
        pieces = [];
        budget.release(held.bytes);
        held.bytes = 0;
      }
    }
  } finally {
    clearTimeout(deadline);
  }
  return fault ?? { ok: true, body: Buffer.concat(pieces) };
}

function pieceFault(piece: Buffer, received: number, bounds: JsonBounds, budget: ByteBudget): BodyFault | null {
  if (received > bodyBytesMax) return tooLarge(`the body has more than ${bodyBytesMax} bytes`);
  const exceeded = bounds.take(piece);
  if (exceeded !== null) return tooLarge(exceeded);
  if (budget.take(piece.length)) return null;
  return { ok: false, status: 503, message: "too many large requests at once: retry when one of them has ended" };
}

function tooLarge(message: string): BodyFault {
  return { ok: false, status: 413, message };
}

const UTF_8 = /^charset="?utf-?8"?$/;

/** What is checked is read as JSON in UTF-8, and sent as that. */
function mediaFault({ headers }: IncomingMessage): BodyFault | null {
  const wrong = (message: string): BodyFault => ({ ok: false, status: 415, message });
  if ((headers["content-encoding"] ?? "identity").toLowerCase() !== "identity")
    return wrong("the relay does not accept a compressed body");
  const [type, ...parameters] = (headers["content-type"] ?? "application/json").toLowerCase().split(";");
  const isUtf8 = parameters.every((one) => one.trim() === "" || UTF_8.test(one.replaceAll(" ", "")));
  if (type?.trim() === "application/json" && isUtf8) return null;
  return wrong("the body is not `application/json` in UTF-8");
}
