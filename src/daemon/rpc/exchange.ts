// One request on the daemon's side, from its arrival until it is answered or cancelled.
import type { Json, JsonObject } from "../../core/base/json.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import { bytesFrame, partsOf } from "./frame.ts";
import { InputQueue } from "./input-queue.ts";
import { inputTakenBytes, inputWindowBytes, outputWindowBytes } from "./limits.ts";
import type { Outgoing } from "./outgoing.ts";
import type { ClientConnection, Exchange } from "./serving.ts";

const NOTHING: JsonObject = Object.freeze({});
const TOO_LARGE = refusal("too_large", "the response is too large", "request less at once");

/** What all exchanges of one connection share. */
export interface ExchangeTransport {
  readonly connected: ClientConnection;
  readonly outgoing: Outgoing;
  readonly answerBytesMax: number;
  /** Reports changes of the queued input bytes, and every write. */
  weigh(change: number): void;
}

export interface ExchangeOptions {
  /** Negative for notifications: their responses are dropped. */
  readonly id: number;
  readonly name: string;
  readonly value: JsonObject;
  readonly hasInput: boolean;
}

export class OpenExchange implements Exchange {
  readonly id: number;
  readonly name: string;
  readonly hasInput: boolean;
  readonly #line: ExchangeTransport;
  #value: JsonObject;
  /** Created on demand: few requests have input. */
  #input: InputQueue | null = null;
  /** Created on demand, too. */
  #cancel: AbortController | null = null;
  #isStopped = false;
  #isAnswered = false;
  #arrived = 0;
  #taken = 0;
  #told = 0;
  #weighed = 0;
  /** Bytes that were sent, and bytes that the client acknowledged. */
  #sent = 0;
  #took = 0;
  /** Sends run one after the other: chunks of two sends never mix. */
  #sending: Promise<void> = Promise.resolve();
  #wakeSender: (() => void) | null = null;

  constructor(line: ExchangeTransport, { id, name, value, hasInput }: ExchangeOptions) {
    this.id = id;
    this.name = name;
    this.#value = value;
    this.hasInput = hasInput;
    this.#line = line;
  }

  get connected(): ClientConnection {
    return this.#line.connected;
  }

  /** Empty once answered: code that still references the exchange does not keep its input in memory. */
  get value(): JsonObject {
    return this.#value;
  }

  get input(): InputQueue {
    this.#input ??= this.#newInput();
    return this.#input;
  }

  /** No response is expected. */
  get isTold(): boolean {
    return this.id < 0;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get signal(): AbortSignal {
    if (this.#cancel === null) {
      this.#cancel = new AbortController();
      if (this.#isStopped) this.#cancel.abort();
    }
    return this.#cancel.signal;
  }

  tell(event: Json): void {
    if (this.#isAnswered || this.isTold) return;
    const text = JSON.stringify({ id: this.id, event });
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#line.answerBytesMax) throw new RangeError("a message is too large to be sent");
    this.#line.outgoing.json(text, bytes);
    this.#line.weigh(0);
  }

  send(channel: number, bytes: Uint8Array): Promise<void> {
    const sent = this.#sending.then(() => this.#send(channel, bytes));
    this.#sending = sent;
    return sent;
  }

  /** The client acknowledged that many bytes. False if that is more than it was sent. */
  took(bytes: number): boolean {
    this.#took += bytes;
    this.#wakeSender?.();
    return this.#took <= this.#sent;
  }

  async #send(channel: number, bytes: Uint8Array): Promise<void> {
    for (const part of partsOf(bytes)) {
      if (this.#isEnded()) return;
      this.#line.outgoing.frame(bytesFrame(this.id, channel, part));
      this.#sent += part.length;
      this.#line.weigh(0);
      await this.#line.outgoing.room();
      while (this.#sent - this.#took > outputWindowBytes && !this.#isEnded())
        await new Promise<void>((wake) => {
          this.#wakeSender = wake;
        });
    }
  }

  #isEnded(): boolean {
    return this.#isAnswered || this.#isStopped || this.isTold;
  }

  /** False if the client sends more than its window. */
  arrive(bytes: Uint8Array): boolean {
    if (!this.hasInput) return false;
    // Sent before the client could know that the input is no longer read.
    if (this.input.isOver) return true;
    this.#arrived += bytes.length;
    if (this.#arrived - this.#taken > inputWindowBytes) return false;
    this.input.push(bytes);
    this.#weigh();
    return true;
  }

  /** Notifies once, even if called twice. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#wakeSender?.();
    this.#dropInput();
    if (!this.#isAnswered) this.#cancel?.abort();
  }

  /** The one response; anything later is dropped. Throws for a value that is not JSON. */
  answer(answer: Answer<object>): void {
    if (this.#isAnswered) return;
    const text = this.isTold ? null : answerText(this.id, answer);
    this.#isAnswered = true;
    this.#value = NOTHING;
    this.#wakeSender?.();
    this.#dropInput();
    if (text === null) return;
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.#line.answerBytesMax) this.#line.outgoing.json(text, bytes);
    else this.#line.outgoing.json(answerText(this.id, TOO_LARGE));
  }

  #newInput(): InputQueue {
    const input = new InputQueue((bytes) => this.#take(bytes));
    if (!this.hasInput || this.#isStopped || this.#isAnswered) input.end();
    return input;
  }

  #dropInput(): void {
    if (this.#input === null) return;
    this.#input.drop();
    this.#weigh();
  }

  #weigh(): void {
    const change = this.input.bytes - this.#weighed;
    this.#weighed += change;
    this.#line.weigh(change);
  }

  #take(bytes: number): void {
    this.#taken += bytes;
    this.#weigh();
    if (this.#taken - this.#told < inputTakenBytes || this.#isAnswered || this.input.isOver) return;
    this.#line.outgoing.json(JSON.stringify({ id: this.id, took: this.#taken - this.#told }));
    this.#told = this.#taken;
  }
}

/** Copies only the known fields of a refusal. */
function answerText(id: number, answer: Answer<object>): string {
  if (answer.ok) return JSON.stringify({ id, ok: true, value: answer.value });
  const { code, message, fix } = answer;
  return JSON.stringify({ id, ok: false, code, message, fix });
}
