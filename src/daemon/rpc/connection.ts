// One connection on the daemon's side: hello first, then requests, dispatched to their handlers.
import type { Socket } from "node:net";
import type { JsonObject } from "../../core/base/json.ts";
import { type Refusal, refusal } from "../../core/ports/daemon/exchange.ts";
import { type ExchangeTransport, OpenExchange } from "./exchange.ts";
import type { FairTurns, TurnQueue } from "./fair-turns.ts";
import { type Frame, FrameCutter, type FrameProblem } from "./frame.ts";
import {
  connectionMemoryBytesMax,
  controlResponseBytesMax,
  farewellMilliseconds,
  helloMilliseconds,
  lateMilliseconds,
  notificationsInFlightMax,
  outputRoomBytes,
  parsedAtOnceCharactersMax,
  protocolVersion,
  requestBytesMax,
  requestsInFlightMax,
  requestsQueuedMax,
} from "./limits.ts";
import type { OpenSocket } from "./listener-process.ts";
import {
  afterReading,
  type ClientMessage,
  monotonicMilliseconds,
  type RequestMessage,
  readClientMessage,
} from "./message.ts";
import { Outgoing } from "./outgoing.ts";
import { notAvailable, wrongProtocol } from "./refusals.ts";
import type { ClientConnection, MessageHandler, Peer, SocketName } from "./serving.ts";

const nameCharactersMax = 64;

export interface ConnectionOptions {
  readonly socketName: SocketName;
  readonly peer: Peer;
  readonly answers: ReadonlyMap<string, MessageHandler>;
  readonly held: ConnectionMemory;
  readonly turns: FairTurns;
  readonly version: string;
  readonly open: OpenSocket;
  /** Logs an internal error. */
  log(line: string): void;
}

export class Connection implements ClientConnection {
  readonly socketName: SocketName;
  readonly peer: Peer;
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>;
  readonly #asked: ConnectionOptions;
  readonly #socket: Socket;
  readonly #outgoing: Outgoing;
  readonly #cutter: FrameCutter = new FrameCutter(requestBytesMax);
  readonly #line: ExchangeTransport;
  /** Notifications get negative ids, which no client can name. */
  readonly #exchanges: Map<number, OpenExchange> = new Map();
  readonly #helloTimer: NodeJS.Timeout;
  readonly #queue: TurnQueue;
  #isPaused = false;
  /** The length of a long message that waits to be parsed; 0 if there is none. */
  #unparsed = 0;
  #closeListeners: (() => void)[] = [];
  #isGreeted = false;
  #isOver = false;
  #heldBytes = 0;
  #inputBytes = 0;
  #told = 0;
  #toldNumber = 0;
  #toldInVain = 0;

  constructor(asked: ConnectionOptions) {
    this.socketName = asked.socketName;
    this.peer = asked.peer;
    this.#asked = asked;
    this.#queue = asked.turns.queue(asked.socketName === "control");
    const socket = asked.open((buffer, length) => this.#arrive(buffer, length));
    this.#socket = socket;
    this.#outgoing = new Outgoing(socket, () => this.#cut());
    const answerBytesMax = asked.socketName === "control" ? controlResponseBytesMax : requestBytesMax;
    const weigh = (change: number): void => this.#weigh(change);
    this.#line = { connected: this, outgoing: this.#outgoing, answerBytesMax, weigh };
    const giveUp = (): void => {
      if (!this.#isGreeted) this.refuse(notAvailable("the client sent no hello in time"));
    };
    this.#helloTimer = setTimeout(() => afterReading(giveUp), helloMilliseconds);
    socket.on("drain", () => {
      this.#weigh();
      this.#pace();
    });
    // An error is always followed by the close event.
    socket.on("error", () => undefined);
    socket.on("end", () => this.#cut());
    this.closed = new Promise((done) => socket.on("close", () => done()));
    void this.closed.then(() => this.#over());
    this.#outgoing.json(helloText(asked.version));
  }

  /** Pending requests, and notifications that are not finished. */
  get inFlight(): number {
    return this.#exchanges.size;
  }

  onClose(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#closeListeners.push(listener);
  }

  tell(event: JsonObject): boolean {
    const text = JSON.stringify({ event });
    if (this.#isOver || !this.#isGreeted || Buffer.byteLength(text) > this.#line.answerBytesMax) return false;
    const isSent = this.#outgoing.json(text);
    this.#weigh();
    return isSent;
  }

  close(): void {
    this.#farewell();
  }

  /** Ends the connection with a reason. */
  refuse(why: Refusal): void {
    if (this.#isOver) return;
    this.#outgoing.json(JSON.stringify(why));
    this.#farewell();
  }

  /** The daemon ends: reports that to waiting clients, and stops their requests. */
  dismiss(why: Refusal): void {
    if (this.#isOver) return;
    for (const exchange of this.#exchanges.values()) {
      exchange.answer(why);
      exchange.stop();
    }
    this.refuse(why);
  }

  #arrive(buffer: Buffer, length: number): void {
    if (this.#isOver) return;
    // The socket is paused then, but a read may be in progress.
    if (this.#unparsed > 0) this.#cutter.keepForLater(buffer.subarray(0, length));
    else this.#stumble(this.#cutter.take(buffer, length, this.#take));
    this.#weigh();
    this.#pace();
  }

  #stumble(problem: FrameProblem | null): void {
    if (problem === "too_large") this.refuse(refusal("too_large", "a frame is larger than it may be"));
    else if (problem === "malformed")
      this.refuse(refusal("invalid_input", "the message does not follow the daemon's protocol"));
  }

  /**
   * A long message is parsed in its turn, one at a time over all connections, because it may take as long as many short ones.
   * Nothing after it is read before.
   */
  #parseInTurn(text: string): void {
    this.#unparsed = text.length;
    this.#queue.push(() => {
      this.#unparsed = 0;
      if (this.#isOver) return;
      this.#hear(readClientMessage(text));
      if (!this.#isOver) this.#stumble(this.#cutter.goOn(this.#take));
      this.#weigh();
      this.#pace();
    });
  }

  /** Backpressure: pauses reading from a client that sends faster than it is answered, or does not read its responses. */
  #pace(): void {
    if (this.#isOver) return;
    const isFull =
      this.#unparsed > 0 || this.#queue.length > requestsQueuedMax || this.#outgoing.pendingBytes > outputRoomBytes;
    if (isFull === this.#isPaused) return;
    this.#isPaused = isFull;
    if (isFull) this.#socket.pause();
    else this.#socket.resume();
  }

  /** Whether to continue. */
  readonly #take = (frame: Frame): boolean => {
    if (frame.kind === "json" && frame.text !== null && frame.text.length > parsedAtOnceCharactersMax) {
      this.#parseInTurn(frame.text);
      return false;
    }
    if (frame.kind === "json") this.#hear(readClientMessage(frame.text));
    else this.#bytes(frame);
    return !this.#isOver;
  };

  #bytes(frame: Exclude<Frame, { kind: "json" }>): void {
    // A request that is already answered ignores input that was still in flight.
    const exchange = this.#exchanges.get(frame.id);
    if (!this.#isGreeted || frame.channel !== 0) this.refuse(refusal("invalid_input", "bytes without a request"));
    else if (frame.kind === "end") exchange?.input.end();
    else if (exchange?.arrive(frame.bytes) === false)
      this.refuse(refusal("invalid_input", "more bytes were sent than the receive window allows"));
  }

  #hear(message: ClientMessage): void {
    if (message.kind === "none") this.refuse(refusal("invalid_input", message.why));
    else if (message.kind === "hello") this.#greet(message.protocol);
    else if (!this.#isGreeted) this.refuse(refusal("invalid_input", "the first message must be hello"));
    else if (message.kind === "tell") this.#hearTold(message.name, message.value);
    else if (message.kind === "ping") this.#outgoing.json(PONG);
    else if (message.kind === "stop") this.#exchanges.get(message.id)?.stop();
    else if (message.kind === "took") {
      if (this.#exchanges.get(message.id)?.took(message.bytes) === false)
        this.refuse(refusal("invalid_input", "more bytes were acknowledged than were sent"));
    } else if (this.#exchanges.has(message.id)) this.refuse(refusal("invalid_input", "a request id is already in use"));
    else if (message.kind === "misasked") this.#say(message.id, refusal("invalid_input", message.why));
    else if (this.inFlight >= requestsInFlightMax)
      this.#say(message.id, notAvailable("too many requests are open on this connection"));
    else this.#question(message);
  }

  #greet(protocol: number): void {
    clearTimeout(this.#helloTimer);
    if (this.#isGreeted) this.refuse(refusal("invalid_input", "hello was sent twice"));
    else if (protocol !== protocolVersion) this.refuse(wrongProtocol(protocolVersion, protocol));
    this.#isGreeted = true;
  }

  #question(question: RequestMessage): void {
    const { id, name, sent } = question;
    const answering = this.#asked.answers.get(name);
    if (answering === undefined) {
      this.#say(id, unknownMessage(name));
      return;
    }
    const exchange = new OpenExchange(this.#line, question);
    const age = sent === null ? lateMilliseconds : monotonicMilliseconds() - sent;
    this.#begin(answering, exchange, age < 0 || age >= lateMilliseconds);
  }

  /**
   * Starts in a later event-loop turn, so that connections take turns. INVARIANT: a request cancelled before its start never
   * starts. `isLate`: the cancellation may already be in the socket: it is read once more, and then the request waits for its
   * turn again, so that many late requests do not start in one event-loop turn.
   */
  #begin(answering: MessageHandler, exchange: OpenExchange, isLate: boolean): void {
    this.#exchanges.set(exchange.id, exchange);
    const begin = (): void => {
      void this.#answer(exchange.isStopped ? CANCELLED : answering, exchange);
      this.#pace();
    };
    const readFirst = (): void => {
      afterReading(() => this.#queue.push(begin));
      this.#pace();
    };
    this.#queue.push(isLate ? readFirst : begin);
  }

  #hearTold(name: string, value: JsonObject): void {
    if (this.#told >= notificationsInFlightMax) {
      this.refuse(notAvailable("too many notifications at once on this connection"));
      return;
    }
    const answering = this.#asked.answers.get(name);
    if (answering === undefined) {
      this.#inVain(name, unknownMessage(name));
      return;
    }
    this.#told++;
    this.#toldNumber--;
    const exchange = new OpenExchange(this.#line, { id: this.#toldNumber, name, value, hasInput: false });
    this.#begin(answering, exchange, false);
  }

  /** Never rejects. */
  async #answer(answering: MessageHandler, exchange: OpenExchange): Promise<void> {
    const { id, name, isTold } = exchange;
    try {
      const answer = await answering(exchange);
      exchange.answer(answer);
      if (isTold && !answer.ok) this.#inVain(name, answer);
    } catch (error) {
      this.#asked.log(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      exchange.answer(notAvailable("internal error of the daemon; see ambit daemon logs", "ambit daemon logs"));
    }
    this.#exchanges.delete(id);
    if (isTold) this.#told--;
    this.#weigh();
  }

  /** Logged ever more rarely: a client that keeps sending invalid notifications must not fill the log. */
  #inVain(name: string, { code, message }: Refusal): void {
    const times = ++this.#toldInVain;
    if (Number.isInteger(Math.log2(times)))
      this.#asked.log(
        `rejected notification from process ${this.peer.pid}, ${times} so far: ${JSON.stringify(name.slice(0, nameCharactersMax))}: ${code}: ${message}`,
      );
  }

  #say(id: number, answer: Refusal): void {
    this.#outgoing.json(JSON.stringify({ id, ...answer }));
  }

  /** INVARIANT: this connection's memory is counted in the total of all connections. */
  #weigh(change = 0): void {
    this.#inputBytes += change;
    const waiting = this.#cutter.pendingBytes + this.#unparsed + this.#outgoing.pendingBytes + this.#inputBytes;
    const bytes = this.#isOver ? 0 : waiting;
    const before = this.#heldBytes;
    this.#heldBytes = bytes;
    if (!this.#asked.held.change(before, bytes)) this.#cut();
  }

  /** Pending output is sent first, if the client reads in time. */
  #farewell(): void {
    if (this.#isOver) return;
    const socket = this.#socket;
    const timer = setTimeout(() => socket.destroy(), farewellMilliseconds);
    socket.once("close", () => clearTimeout(timer));
    this.#outgoing.flush();
    socket.end();
    // Further input is ignored, but has to be read for the client to see the end.
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
    const listeners = this.#closeListeners;
    this.#closeListeners = [];
    for (const exchange of this.#exchanges.values()) exchange.stop();
    for (const listener of listeners) listener();
  }
}

const PONG = JSON.stringify({ pong: true });

const CANCELLED: MessageHandler = async () =>
  refusal("stopped", "the client disconnected before the request started: nothing was done");

export function helloText(version: string): string {
  return JSON.stringify({ hello: { protocol: protocolVersion, version } });
}

function unknownMessage(name: string): Refusal {
  const what = `unknown request on this socket: ${name.slice(0, nameCharactersMax)}`;
  return refusal("invalid_input", what, "if ambit was updated: ambit daemon stop");
}

/** The memory of all connections together, so that many of them cannot exceed what one may not. */
export class ConnectionMemory {
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** False if this exceeds the total limit: the connection that caused it is closed. */
  change(before: number, after: number): boolean {
    this.#total += after - before;
    return after <= before || this.#total <= connectionMemoryBytesMax;
  }
}
