// Lines in, lines out: the way between a client's pipes and the protocol's library, behind our own front. When the client has
// closed its end, what it asked for is still answered, as long as somebody is there to read it.
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { JsonObject } from "../authority/json.ts";
import type { Front } from "./front.ts";
import { outputPendingBytesMax, requestsInFlightMax } from "./limits.ts";
import { type Line, LineCutter } from "./line-cutter.ts";
import { isRequestId } from "./wire-message.ts";

const goneMilliseconds = 200;

export interface StdioTransportAsked {
  readonly input: Readable;
  readonly output: Writable;
  readonly front: Front;
  /** Whether nobody can read an answer any more, although nothing says so yet. */
  isClientGone(): boolean;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #asked: StdioTransportAsked;
  readonly #cutter = new LineCutter();
  #outgoing: string[] = [];
  #isEnding = false;
  #isClosed = false;
  #looking: ReturnType<typeof setInterval> | undefined;

  constructor(asked: StdioTransportAsked) {
    this.#asked = asked;
  }

  async start(): Promise<void> {
    const { input, output } = this.#asked;
    input.on("data", (chunk: Buffer) => this.#take(chunk));
    input.on("end", () => {
      const rest = this.#cutter.rest();
      if (rest !== null && !this.#isEnding) this.#hear(rest);
      this.finish();
    });
    input.on("error", () => this.finish());
    output.on("error", () => void this.close());
    output.on("drain", () => this.#pace());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(message as unknown as JsonObject);
    const id = "method" in message ? undefined : message.id;
    if (!isRequestId(id)) return;
    this.#asked.front.settle(id);
    this.#settled();
  }

  /** Nothing more is read; it closes when everything is answered. */
  finish(): void {
    if (this.#isEnding || this.#isClosed) return;
    this.#isEnding = true;
    this.#asked.input.pause();
    this.#looking = setInterval(() => {
      if (this.#asked.isClientGone()) void this.close();
    }, goneMilliseconds);
    this.#settled();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#looking);
    this.#flush();
    this.#asked.input.pause();
    this.onclose?.();
  }

  #take(chunk: Buffer): void {
    for (const line of this.#cutter.take(chunk)) {
      if (this.#isEnding || this.#isClosed) return;
      this.#hear(line);
    }
    this.#pace();
  }

  #hear(line: Line): void {
    const heard = this.#asked.front.hear(line);
    switch (heard.kind) {
      case "message":
        this.onmessage?.(heard.message as unknown as JSONRPCMessage);
        return;
      case "answer":
        this.#write(heard.answer);
        return;
      case "end":
        if (heard.answer !== null) this.#write(heard.answer);
        this.finish();
        return;
      case "nothing":
        // Whoever takes a call back waits for no answer.
        this.#settled();
        return;
      default:
        heard satisfies never;
    }
  }

  #settled(): void {
    if (this.#isEnding && this.#asked.front.inFlight === 0) void this.close();
    else this.#pace();
  }

  /** Nobody is read from faster than answers leave. */
  #pace(): void {
    if (this.#isEnding || this.#isClosed) return;
    const { input, output, front } = this.#asked;
    const isFull = front.inFlight >= requestsInFlightMax || output.writableLength >= outputPendingBytesMax;
    if (isFull && !input.isPaused()) input.pause();
    else if (!isFull && input.isPaused()) input.resume();
  }

  /** Everything of one turn in one write. */
  #write(message: JsonObject): void {
    if (this.#isClosed) return;
    if (this.#outgoing.length === 0) setImmediate(() => this.#flush());
    this.#outgoing.push(`${JSON.stringify(message)}\n`);
  }

  #flush(): void {
    if (this.#outgoing.length === 0) return;
    const text = this.#outgoing.join("");
    this.#outgoing = [];
    this.#asked.output.write(text);
  }
}
