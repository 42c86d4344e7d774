// One question on the daemon's side, from the moment it is asked until it is answered or nobody waits for it any more.
import type { Json, JsonObject } from "../../authority/json.ts";
import type { Connected, Exchange } from "../serving.ts";
import { bytesFrame, frameHeaderBytes, jsonFrame, partsOf } from "./frame.ts";
import { InputQueue } from "./input-queue.ts";
import { inputTakenBytes, inputWindowBytes } from "./limits.ts";
import type { Outgoing } from "./outgoing.ts";
import { refusal } from "./refusals.ts";

const TOO_LARGE = refusal("too_large", "the answer is too large to be sent", "ask for less at once");

export interface ExchangeAsked {
  readonly connected: Connected;
  readonly id: number;
  readonly name: string;
  readonly value: JsonObject;
  readonly outgoing: Outgoing;
  readonly answerBytesMax: number;
  /** Told how many bytes of input wait more, or fewer, than before; and whenever something was written. */
  weigh(change: number): void;
}

export class OpenExchange implements Exchange {
  readonly connected: Connected;
  readonly id: number;
  readonly name: string;
  readonly value: JsonObject;
  readonly input: InputQueue;
  readonly #asked: ExchangeAsked;
  #rings: (() => void)[] = [];
  #isStopped = false;
  #isAnswered = false;
  #arrived = 0;
  #taken = 0;
  #told = 0;
  #weighed = 0;

  constructor(asked: ExchangeAsked) {
    this.connected = asked.connected;
    this.id = asked.id;
    this.name = asked.name;
    this.value = asked.value;
    this.#asked = asked;
    this.input = new InputQueue((bytes) => this.#take(bytes));
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  onStop(ring: () => void): void {
    if (this.#isStopped) ring();
    else if (!this.#isAnswered) this.#rings.push(ring);
  }

  tell(event: Json): void {
    if (this.#isAnswered) return;
    this.#asked.outgoing.write(this.#frame({ id: this.id, event }));
    this.#weigh();
  }

  async send(channel: number, bytes: Uint8Array): Promise<void> {
    for (const part of partsOf(bytes)) {
      if (this.#isAnswered) return;
      this.#asked.outgoing.write(bytesFrame(this.id, channel, part));
      this.#weigh();
      await this.#asked.outgoing.room();
    }
  }

  /** False where the asker sends more than it was told there is room for. */
  arrive(bytes: Uint8Array): boolean {
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
    this.input.drop();
    this.#weigh();
    const rings = this.#rings;
    this.#rings = [];
    for (const ring of rings) ring();
  }

  /** The one answer; whatever comes after it goes nowhere. Throws for what is no JSON. */
  answer(answer: object): void {
    if (this.#isAnswered) return;
    const frame = jsonFrame(JSON.stringify({ id: this.id, ...answer }));
    const isFitting = frame.length - frameHeaderBytes <= this.#asked.answerBytesMax;
    this.#isAnswered = true;
    this.#rings = [];
    this.input.drop();
    this.#asked.outgoing.write(isFitting ? frame : this.#frame({ id: this.id, ...TOO_LARGE }));
    this.#weigh();
  }

  #weigh(): void {
    const change = this.input.bytes - this.#weighed;
    this.#weighed += change;
    this.#asked.weigh(change);
  }

  #frame(message: object): Uint8Array {
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > this.#asked.answerBytesMax) throw new RangeError("a message is too large to be sent");
    return jsonFrame(text);
  }

  #take(bytes: number): void {
    this.#taken += bytes;
    this.#weigh();
    if (this.#taken - this.#told < inputTakenBytes || this.#isAnswered || this.input.isOver) return;
    this.#asked.outgoing.write(jsonFrame(JSON.stringify({ id: this.id, took: this.#taken - this.#told })));
    this.#told = this.#taken;
  }
}
