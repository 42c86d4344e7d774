// Lines in, lines out: the way between a client's pipes and the protocol's library, behind our own front. When the client has
// closed its end, what it asked for is still answered, as long as somebody is there to read it.
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { JsonObject } from "../authority/json.ts";
import type { AnswerCall } from "./call-answer.ts";
import type { CallAsked } from "./call-asked.ts";
import type { Front } from "./front.ts";
import { outputPendingBytesMax, requestsInFlightMax } from "./limits.ts";
import { type Line, LineCutter } from "./line-cutter.ts";
import { isRequestId, type RequestId } from "./wire-message.ts";

const goneMilliseconds = 200;

export interface StdioTransportAsked {
  /** Reads from now on. A chunk is the reader's own: it is read into again once it was taken. */
  openInput(take: (chunk: Buffer) => void): Readable;
  readonly output: Writable;
  readonly front: Front;
  readonly answerCall: AnswerCall;
  /** Whether nobody can read an answer any more, although nothing says so yet. */
  isClientGone(): boolean;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #asked: StdioTransportAsked;
  readonly #cutter = new LineCutter();
  #input: Readable | null = null;
  #outgoing = "";
  #isEnding = false;
  #isClosed = false;
  #looking: ReturnType<typeof setInterval> | undefined;

  constructor(asked: StdioTransportAsked) {
    this.#asked = asked;
  }

  async start(): Promise<void> {
    const { openInput, output } = this.#asked;
    const input = openInput((chunk) => this.#take(chunk));
    this.#input = input;
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
    const id = "method" in message ? undefined : message.id;
    const { front } = this.#asked;
    const isAnswer = isRequestId(id);
    if (!isAnswer || !front.isOpener(id)) this.#write(JSON.stringify(message));
    if (isAnswer) this.#settle(id);
  }

  /** Nothing more is read; it closes when everything is answered. */
  finish(): void {
    if (this.#isEnding || this.#isClosed) return;
    this.#isEnding = true;
    this.#input?.pause();
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
    this.#input?.pause();
    this.#asked.front.takeAllBack();
    this.onclose?.();
  }

  #take(chunk: Buffer): void {
    this.#cutter.take(chunk, this.#hears);
    this.#pace();
  }

  /** Whether to go on. */
  readonly #hears = (line: Line): boolean => {
    if (this.#isEnding || this.#isClosed) return false;
    this.#hear(line);
    return true;
  };

  #hear(line: Line): void {
    const heard = this.#asked.front.hear(line);
    switch (heard.kind) {
      case "message":
        this.#pass(heard.message);
        return;
      case "call":
        if (heard.opens !== null) this.#pass(heard.opens);
        void this.#answer(heard.call);
        return;
      case "answer":
        this.#write(JSON.stringify(heard.answer));
        return;
      case "end":
        if (heard.answer !== null) this.#write(JSON.stringify(heard.answer));
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

  #pass(message: JsonObject): void {
    this.onmessage?.(message as unknown as JSONRPCMessage);
  }

  async #answer(call: CallAsked): Promise<void> {
    const line = await this.#asked.answerCall(call);
    // Who took it back gets no answer, and its id may be another's by now.
    if (call.wanted.isTakenBack) return;
    this.#write(line);
    this.#settle(call.id);
  }

  #settle(id: RequestId): void {
    this.#asked.front.settle(id);
    this.#settled();
  }

  #settled(): void {
    if (this.#isEnding && this.#asked.front.inFlight === 0) void this.close();
    else this.#pace();
  }

  /** Nobody is read from faster than answers leave. */
  #pace(): void {
    if (this.#isEnding || this.#isClosed) return;
    const { output, front } = this.#asked;
    const input = this.#input;
    if (input === null) return;
    const isFull = front.inFlight >= requestsInFlightMax || output.writableLength >= outputPendingBytesMax;
    if (isFull && !input.isPaused()) input.pause();
    else if (!isFull && input.isPaused()) input.resume();
  }

  /** Everything of one turn in one write. */
  #write(line: string): void {
    if (this.#isClosed) return;
    if (this.#outgoing === "") setImmediate(this.#flush);
    this.#outgoing += `${line}\n`;
  }

  readonly #flush = (): void => {
    if (this.#outgoing === "") return;
    const text = this.#outgoing;
    this.#outgoing = "";
    this.#asked.output.write(text);
  };
}
