// One question on the daemon's side, from the moment it is asked until it is answered or nobody waits for it any more.
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { bytesFrame, partsOf } from "./frame.ts";
import { InputQueue } from "./input-queue.ts";
import { inputTakenBytes, inputWindowBytes, outputWindowBytes } from "./limits.ts";
import type { Outgoing } from "./outgoing.ts";
import { refusal } from "./refusals.ts";
import type { Connected, Exchange } from "./serving.ts";

const NOTHING: JsonObject = Object.freeze({});
const TOO_LARGE = refusal("too_large", "the response is too large", "request less at once");

/** What all exchanges of one connection have of it. */
export interface ExchangeLine {
  readonly connected: Connected;
  readonly outgoing: Outgoing;
  readonly answerBytesMax: number;
  /** Told how many bytes of input wait more, or fewer, than before; and whenever something was written. */
  weigh(change: number): void;
}

export interface ExchangeAsked {
  /** Below zero for what was told: whatever there is to say to it goes nowhere. */
  readonly id: number;
  readonly name: string;
  readonly value: JsonObject;
  readonly hasInput: boolean;
}

export class OpenExchange implements Exchange {
  readonly id: number;
  readonly name: string;
  readonly hasInput: boolean;
  readonly #line: ExchangeLine;
  #value: JsonObject;
  /** Made where somebody asks for it: few questions have any. */
  #input: InputQueue | null = null;
  #rings: (() => void)[] | null = null;
  #isStopped = false;
  #isAnswered = false;
  #arrived = 0;
  #taken = 0;
  #told = 0;
  #weighed = 0;
  /** Bytes that were sent back, and those that the asker took. */
  #sent = 0;
  #took = 0;
  /** Sends are carried out one after the other: parts of two never mix. */
  #sending: Promise<void> = Promise.resolve();
  #windowRing: (() => void) | null = null;

  constructor(line: ExchangeLine, { id, name, value, hasInput }: ExchangeAsked) {
    this.id = id;
    this.name = name;
    this.#value = value;
    this.hasInput = hasInput;
    this.#line = line;
  }

  get connected(): Connected {
    return this.#line.connected;
  }

  /** Empty once it is answered: whoever holds on to a question for longer does not hold on to all that was said in it. */
  get value(): JsonObject {
    return this.#value;
  }

  get input(): InputQueue {
    this.#input ??= this.#newInput();
    return this.#input;
  }

  /** Nobody waits for an answer. */
  get isTold(): boolean {
    return this.id < 0;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  onStop(ring: () => void): void {
    if (this.#isStopped) ring();
    else if (this.#isAnswered) return;
    else if (this.#rings === null) this.#rings = [ring];
    else this.#rings.push(ring);
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

  /** The asker took so many bytes. False where that is more than it was sent. */
  took(bytes: number): boolean {
    this.#took += bytes;
    this.#windowRing?.();
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
        await new Promise<void>((ring) => {
          this.#windowRing = ring;
        });
    }
  }

  #isEnded(): boolean {
    return this.#isAnswered || this.#isStopped || this.isTold;
  }

  /** False where the asker sends more than it was told there is room for. */
  arrive(bytes: Uint8Array): boolean {
    if (!this.hasInput) return false;
    // Sent before the asker could know that nobody takes it any more.
    if (this.input.isOver) return true;
    this.#arrived += bytes.length;
    if (this.#arrived - this.#taken > inputWindowBytes) return false;
    this.input.push(bytes);
    this.#weigh();
    return true;
  }

  /** Rings once, whoever is told twice. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#windowRing?.();
    this.#dropInput();
    const rings = this.#rings ?? [];
    this.#rings = null;
    for (const ring of rings) ring();
  }

  /** The one answer; whatever comes after it goes nowhere. Throws for what is no JSON. */
  answer(answer: Answer<object>): void {
    if (this.#isAnswered) return;
    const text = this.isTold ? null : answerText(this.id, answer);
    this.#isAnswered = true;
    this.#value = NOTHING;
    this.#rings = null;
    this.#windowRing?.();
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

/** Nothing that an answer has besides goes out. */
function answerText(id: number, answer: Answer<object>): string {
  if (answer.ok) return JSON.stringify({ id, ok: true, value: answer.value });
  const { code, message, fix } = answer;
  return JSON.stringify({ id, ok: false, code, message, fix });
}
