// One connection on the daemon's side: hello first, then questions, each answered by whoever is there for it.
import type { Socket } from "node:net";
import type { JsonObject } from "../../authority/json.ts";
import type { Refusal } from "../../ports/exchange.ts";
import type { Answering, Connected, Door, Peer } from "../serving.ts";
import { OpenExchange } from "./exchange.ts";
import { type Frame, FrameCutter, jsonFrame } from "./frame.ts";
import type { Held } from "./held.ts";
import {
  controlAnswerBytesMax,
  farewellMilliseconds,
  helloMilliseconds,
  protocolVersion,
  questionBytesMax,
  questionsInFlightMax,
} from "./limits.ts";
import { type AskerMessage, readAskerMessage } from "./message.ts";
import { Outgoing } from "./outgoing.ts";
import { notAvailable, refusal, wrongProtocol } from "./refusals.ts";

const nameCharactersMax = 64;

export interface ConnectionAsked {
  readonly socket: Socket;
  readonly door: Door;
  readonly peer: Peer;
  readonly answers: ReadonlyMap<string, Answering>;
  readonly held: Held;
  readonly version: string;
  /** A mistake of ours, for whoever looks for it. */
  log(line: string): void;
}

export class Connection implements Connected {
  readonly door: Door;
  readonly peer: Peer;
  /** Kept when the socket itself is closed. */
  readonly closed: Promise<void>;
  readonly #asked: ConnectionAsked;
  readonly #socket: Socket;
  readonly #outgoing: Outgoing;
  readonly #cutter: FrameCutter = new FrameCutter(questionBytesMax);
  readonly #exchanges: Map<number, OpenExchange> = new Map();
  readonly #helloTimer: NodeJS.Timeout;
  #closeRings: (() => void)[] = [];
  #isGreeted = false;
  #isOver = false;
  #heldBytes = 0;
  #inputBytes = 0;

  constructor(asked: ConnectionAsked) {
    this.door = asked.door;
    this.peer = asked.peer;
    this.#asked = asked;
    this.#socket = asked.socket;
    this.#outgoing = new Outgoing(asked.socket, () => this.#cut());
    this.#helloTimer = setTimeout(() => this.refuse(notAvailable("nobody said hello in time")), helloMilliseconds);
    asked.socket.on("data", (chunk: Uint8Array) => this.#arrive(chunk));
    asked.socket.on("drain", () => this.#weigh());
    // An error is always followed by the event that the socket closed.
    asked.socket.on("error", () => undefined);
    asked.socket.on("end", () => this.#cut());
    this.closed = new Promise((done) => asked.socket.on("close", () => done()));
    void this.closed.then(() => this.#over());
    this.#outgoing.write(jsonFrame(helloText(asked.version)));
  }

  /** Questions that wait for their answer. */
  get inFlight(): number {
    return this.#exchanges.size;
  }

  onClose(ring: () => void): void {
    if (this.#isOver) ring();
    else this.#closeRings.push(ring);
  }

  tell(event: JsonObject): boolean {
    const text = JSON.stringify({ event });
    if (this.#isOver || !this.#isGreeted || Buffer.byteLength(text) > this.#answerBytesMax) return false;
    const isSent = this.#outgoing.write(jsonFrame(text));
    this.#weigh();
    return isSent;
  }

  close(): void {
    this.#farewell();
  }

  /** Ends the connection, and says why. */
  refuse(why: Refusal): void {
    if (this.#isOver) return;
    this.#outgoing.write(jsonFrame(JSON.stringify(why)));
    this.#farewell();
  }

  /** The daemon ends: whoever waits is told, and what was asked is stopped. */
  dismiss(why: Refusal): void {
    if (this.#isOver) return;
    for (const exchange of this.#exchanges.values()) {
      exchange.answer(why);
      exchange.stop();
    }
    this.refuse(why);
  }

  get #answerBytesMax(): number {
    return this.door === "control" ? controlAnswerBytesMax : questionBytesMax;
  }

  #arrive(chunk: Uint8Array): void {
    if (this.#isOver) return;
    const problem = this.#cutter.take(chunk, (frame) => {
      this.#take(frame);
      return !this.#isOver;
    });
    if (problem === "too_large") this.refuse(refusal("too_large", "a frame is larger than it may be"));
    else if (problem === "malformed") this.refuse(refusal("invalid_input", "this is not how the daemon is spoken to"));
    this.#weigh();
  }

  #take(frame: Frame): void {
    if (frame.kind === "json") {
      const read = readAskerMessage(frame.payload);
      if (read.ok) this.#hear(read.message);
      else this.refuse(refusal("invalid_input", read.why));
      return;
    }
    // A question that is answered already is not worth what was still on its way.
    const exchange = this.#exchanges.get(frame.id);
    if (!this.#isGreeted || frame.channel !== 0) this.refuse(refusal("invalid_input", "bytes without a question"));
    else if (frame.kind === "end") exchange?.input.end();
    else if (exchange?.arrive(frame.bytes) === false)
      this.refuse(refusal("invalid_input", "more bytes were sent than there is room for"));
  }

  #hear(message: AskerMessage): void {
    if (message.kind === "hello") {
      clearTimeout(this.#helloTimer);
      if (this.#isGreeted) this.refuse(refusal("invalid_input", "hello was said twice"));
      else if (message.protocol !== protocolVersion) this.refuse(wrongProtocol(protocolVersion, message.protocol));
      this.#isGreeted = true;
      return;
    }
    if (!this.#isGreeted) this.refuse(refusal("invalid_input", "the first message is hello"));
    else if (message.kind === "stop") this.#exchanges.get(message.id)?.stop();
    else if (this.#exchanges.has(message.id))
      this.refuse(refusal("invalid_input", "a number was given to two questions at once"));
    else if (message.kind === "misasked") this.#say(message.id, refusal("invalid_input", message.why));
    else if (this.#exchanges.size >= questionsInFlightMax)
      this.#say(message.id, notAvailable("too many questions wait on this connection"));
    else this.#question(message.id, message.name, message.value);
  }

  #question(id: number, name: string, value: JsonObject): void {
    const answering = this.#asked.answers.get(name);
    if (answering !== undefined) void this.#answer(answering, id, name, value);
    else {
      const what = `the daemon knows no such question on this socket: ${name.slice(0, nameCharactersMax)}`;
      this.#say(id, refusal("invalid_input", what, "where ambit was updated meanwhile: ambit daemon stop"));
    }
  }

  async #answer(answering: Answering, id: number, name: string, value: JsonObject): Promise<void> {
    const exchange = new OpenExchange({
      connected: this,
      id,
      name,
      value,
      outgoing: this.#outgoing,
      answerBytesMax: this.#answerBytesMax,
      weigh: (change) => this.#weigh(change),
    });
    this.#exchanges.set(id, exchange);
    try {
      const answer = await answering(exchange);
      exchange.answer(answer.ok ? { ok: true, value: answer.value } : plain(answer));
    } catch (error) {
      this.#asked.log(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      exchange.answer(notAvailable("the daemon made a mistake; its log says more", "ambit daemon logs"));
    } finally {
      this.#exchanges.delete(id);
      this.#weigh();
    }
  }

  #say(id: number, answer: Refusal): void {
    this.#outgoing.write(jsonFrame(JSON.stringify({ id, ...answer })));
  }

  /** INVARIANT: what this connection keeps in memory is known to all of them together. */
  #weigh(change = 0): void {
    this.#inputBytes += change;
    const bytes = this.#isOver ? 0 : this.#cutter.pendingBytes + this.#outgoing.pendingBytes + this.#inputBytes;
    const before = this.#heldBytes;
    this.#heldBytes = bytes;
    if (!this.#asked.held.change(before, bytes)) this.#cut();
  }

  /** What was written is read first, by whoever reads in time. */
  #farewell(): void {
    if (this.#isOver) return;
    const socket = this.#socket;
    const timer = setTimeout(() => socket.destroy(), farewellMilliseconds);
    socket.once("close", () => clearTimeout(timer));
    socket.end();
    // What still arrives is not looked at, but has to be read for the other side to see the end.
    socket.resume();
    this.#over();
  }

  #cut(): void {
    this.#socket.destroy();
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#helloTimer);
    this.#outgoing.over();
    this.#weigh();
    const rings = this.#closeRings;
    this.#closeRings = [];
    for (const exchange of this.#exchanges.values()) exchange.stop();
    for (const ring of rings) ring();
  }
}

export function helloText(version: string): string {
  return JSON.stringify({ hello: { protocol: protocolVersion, version } });
}

function plain({ ok, code, message, fix }: Refusal): Refusal {
  return { ok, code, message, fix };
}
