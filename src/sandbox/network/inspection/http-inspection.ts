// HTTP/1 on 80: every request on the connection must name the connected host. Each request is followed to its end; one
// whose end is ambiguous closes the connection.
import type { Destination } from "../../../core/authority/axes/destination.ts";
import { headBytesMax } from "../limits.ts";
import { readHead } from "./http-head.ts";
import { HELD, type Inspection, type InspectionStep, refusedStep } from "./inspection.ts";

type State =
  | "head"
  /** Bytes of a body with a length, or of one chunk. */
  | "body"
  | "chunk"
  | "size"
  | "chunk-end"
  | "last";

const LINE_FEED = 0x0a;
const sizeLineBytesMax = 10;

/** Heads and chunk headers are buffered until they are complete; bodies pass through. */
export class HttpInspection implements Inspection {
  /** Another request may always follow. */
  readonly settled: boolean = false;
  readonly #host: Destination;
  readonly #port: number;
  #state: State = "head";
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** How much of the terminating empty line has been seen. */
  #ending = 0;
  #left = 0;

  constructor(host: Destination, port: number) {
    this.#host = host;
    this.#port = port;
  }

  answer(): InspectionStep {
    return HELD;
  }

  push(bytes: Uint8Array): InspectionStep {
    const passed: Uint8Array[] = [];
    let at = 0;
    while (at < bytes.length) {
      const isPlain = this.#state === "body" || this.#state === "chunk";
      const end = isPlain ? Math.min(bytes.length, at + this.#left) : this.#lineEnd(bytes, at);
      const part = bytes.subarray(at, Math.abs(end));
      at = Math.abs(end);
      if (isPlain) {
        passed.push(part);
        this.#left -= part.length;
        if (this.#left === 0) this.#state = this.#state === "chunk" ? "chunk-end" : "head";
        continue;
      }
      this.#held.push(part);
      this.#heldBytes += part.length;
      if (this.#heldBytes > (this.#state === "head" ? headBytesMax : sizeLineBytesMax)) return refusedStep("protocol");
      if (end < 0) continue;
      const whole = this.#take();
      const refused = this.#line(whole);
      if (refused !== null) return refused;
      passed.push(whole);
    }
    return { kind: "pass", bytes: passed };
  }

  /** The end of the line (or of the head) in these bytes; negative: incomplete. */
  #lineEnd(bytes: Uint8Array, start: number): number {
    if (this.#state !== "head") {
      const found = bytes.indexOf(LINE_FEED, start);
      return found < 0 ? -bytes.length : found + 1;
    }
    for (let at = start; at < bytes.length; at++) {
      const wanted = this.#ending % 2 === 0 ? 0x0d : LINE_FEED;
      const byte = bytes[at] as number;
      this.#ending = byte === wanted ? this.#ending + 1 : byte === 0x0d ? 1 : 0;
      if (this.#ending === 4) {
        this.#ending = 0;
        return at + 1;
      }
    }
    return -bytes.length;
  }

  #take(): Uint8Array {
    const whole = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    return whole;
  }

  /** Advances to the next state; returns a step only for a refusal. */
  #line(whole: Uint8Array): InspectionStep | null {
    const text = Buffer.from(whole).toString("latin1");
    switch (this.#state) {
      case "head": {
        const head = readHead(text.slice(0, -4), this.#host, this.#port);
        if (!head.ok) return refusedStep(head.reason, head.other);
        if (head.body.kind === "chunks") this.#state = "size";
        else this.#plain("body", head.body.bytes);
        return null;
      }
      case "size": {
        // No chunk extensions: parsers disagree about them.
        if (!/^[0-9A-Fa-f]{1,8}\r\n$/.test(text)) return refusedStep("protocol");
        const size = Number.parseInt(text, 16);
        if (size === 0) this.#state = "last";
        else this.#plain("chunk", size);
        return null;
      }
      case "chunk-end":
      case "last":
        if (text !== "\r\n") return refusedStep("protocol");
        this.#state = this.#state === "last" ? "head" : "size";
        return null;
      case "body":
      case "chunk":
        throw new Error("a body is not parsed as lines");
      default:
        return this.#state satisfies never;
    }
  }

  #plain(state: "body" | "chunk", bytes: number): void {
    this.#left = bytes;
    this.#state = bytes === 0 ? "head" : state;
  }
}
