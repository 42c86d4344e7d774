// The client's side of a socket: many concurrent requests, each answered exactly once, whatever happens to the daemon.
import { connect as connectSocket, type Socket } from "node:net";
import { onAbort } from "../../core/base/abort.ts";
import type { Json } from "../../core/base/json.ts";
import type { CallMessages } from "../../core/ports/daemon/daemon-calls.ts";
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import {
  type Answer,
  type MessageClient,
  type Refusal,
  type RequestOptions,
  refusal,
} from "../../core/ports/daemon/exchange.ts";
import { helloText } from "./connection.ts";
import { type DaemonMessage, readDaemonMessage } from "./daemon-message.ts";
import { type DaemonFolder, openDaemonFolder } from "./folder.ts";
import { type Frame, FrameCutter } from "./frame.ts";
import { InputPump } from "./input-pump.ts";
import {
  controlResponseBytesMax,
  exchangeNumberMax,
  helloMilliseconds,
  notificationCharactersMax,
  outputTakenBytes,
  pingMilliseconds,
  protocolVersion,
  readBytesMax,
  requestBytesMax,
  silenceMillisecondsMax,
} from "./limits.ts";
import { afterReading, monotonicMilliseconds } from "./message.ts";
import { TurnWriter } from "./outgoing.ts";
import { noDaemon, wrongProtocol } from "./refusals.ts";
import type { SocketName } from "./serving.ts";

const againMilliseconds = 10;

export interface ConnectOptions {
  /** The daemon's folder: `<state>/daemon`. */
  readonly folder: string;
  /** The client's version. */
  readonly version: string;
  /** Receives events that belong to no request. */
  onEvent?(event: Json): void;
  /** When to ping and when to give up on a daemon that sends nothing; by default as in `limits.ts`. */
  readonly silence?: SilenceLimits;
  /** Called once if the connection is lost without being closed here. There is no automatic reconnect. */
  onLost?(why: Refusal): void;
}

export interface SilenceLimits {
  /** For the daemon's hello on a new connection. */
  readonly helloMilliseconds: number;
  readonly pingMilliseconds: number;
  readonly givenUpMilliseconds: number;
}

const DEFAULT_SILENCE: SilenceLimits = {
  helloMilliseconds,
  pingMilliseconds,
  givenUpMilliseconds: silenceMillisecondsMax,
};

export type MessagesOf<D extends SocketName> = D extends "call" ? CallMessages : ControlMessages;

/**
 * `not_available` if no daemon runs, or it is just ending: then one may be started. `no_answer` if one is running and does not
 * respond.
 */
export async function connect<D extends SocketName>(
  socketName: D,
  asked: ConnectOptions,
): Promise<Answer<MessageClient<MessagesOf<D>>>> {
  const folder = openDaemonFolder(asked.folder);
  if (!folder.ok) return folder;
  const opened = await openClient(folder.value, socketName, asked);
  folder.value.close();
  if (!opened.ok) return opened;
  const refused = await opened.value.greeted;
  return refused ?? { ok: true, value: opened.value as unknown as MessageClient<MessagesOf<D>> };
}

async function openClient(
  folder: DaemonFolder,
  socketName: SocketName,
  asked: ConnectOptions,
): Promise<Answer<Client>> {
  const until = performance.now() + (asked.silence ?? DEFAULT_SILENCE).helloMilliseconds;
  for (;;) {
    const opened = await tryClient(folder.socket(socketName), socketName, asked);
    if (typeof opened !== "string") return { ok: true, value: opened };
    if (opened === "ENOENT" || opened === "ECONNREFUSED") return noDaemon("no daemon is running", "ambit daemon start");
    // Its process ended with the connection still in the backlog.
    if (opened === "ECONNRESET" || opened === "EPIPE") return noDaemon("the daemon exited");
    // The kernel's connection backlog is full.
    if (opened !== "EAGAIN" || performance.now() > until)
      return refusal("no_answer", `the daemon cannot be reached: ${opened}`, "ambit daemon stop");
    await new Promise((done) => setTimeout(done, againMilliseconds));
  }
}

/** Connected, or the error code. */
function tryClient(path: string, socketName: SocketName, asked: ConnectOptions): Promise<Client | string> {
  return new Promise((give) => {
    // The read buffer is reused: its data is parsed before the next read.
    const buffer = Buffer.alloc(readBytesMax);
    // INVARIANT: set before anything can be read.
    let client: Client | null = null;
    const callback = (length: number): boolean => {
      client?.arrive(buffer, length);
      return true;
    };
    const socket = connectSocket({ path, onread: { buffer, callback } });
    socket.once("error", (error) => give("code" in error ? String(error.code) : "unknown"));
    socket.once("connect", () => {
      client = new Client(socket, socketName, asked);
      give(client);
    });
  });
}

/** One pending request. */
interface PendingRequest {
  readonly along: RequestOptions | null;
  readonly pump: InputPump | null;
  /** Bytes that were taken and not acknowledged yet. */
  taken: number;
  give(answer: Answer<never>): void;
}

class Client {
  /** Set at the daemon's hello: null, or the reason for refusal. */
  readonly greeted: Promise<Refusal | null>;
  daemonVersion = "";
  readonly #socket: Socket;
  readonly #writer: TurnWriter;
  readonly #asked: ConnectOptions;
  readonly #silence: SilenceLimits;
  readonly #cutter: FrameCutter;
  readonly #waiting: Map<number, PendingRequest> = new Map();
  readonly #timer: NodeJS.Timeout;
  #greet: (refused: Refusal | null) => void = () => undefined;
  #isGreeted = false;
  #isClosed = false;
  #lost: Refusal | null = null;
  #number = 0;
  #heardAt = performance.now();
  /** Pings in a row without a byte since. */
  #silentPings = 0;
  #pinging: NodeJS.Timeout | null = null;

  constructor(socket: Socket, socketName: SocketName, asked: ConnectOptions) {
    this.#socket = socket;
    this.#writer = new TurnWriter(socket);
    this.#asked = asked;
    this.#silence = asked.silence ?? DEFAULT_SILENCE;
    this.#cutter = new FrameCutter(socketName === "control" ? controlResponseBytesMax : requestBytesMax);
    this.greeted = new Promise((give) => {
      this.#greet = give;
    });
    const late = refusal("no_answer", "the daemon does not respond", "ambit daemon stop");
    const giveUp = (): void => {
      if (!this.#isGreeted) this.#lose(late);
    };
    this.#timer = setTimeout(() => afterReading(giveUp), this.#silence.helloMilliseconds);
    socket.removeAllListeners("error");
    socket.on("error", () => undefined);
    socket.on("close", () => this.#lose(noDaemon("the daemon exited")));
  }

  ask(name: string, value: object, along: RequestOptions | null = null): Promise<Answer<never>> {
    if (this.#lost !== null) return Promise.resolve(this.#lost);
    const id = this.#next();
    const input = along?.input ?? null;
    const sent = monotonicMilliseconds();
    const question = { id, ask: name, value, sent };
    const text = JSON.stringify(input === null ? question : { ...question, input: true });
    const bytes = Buffer.byteLength(text);
    if (bytes > requestBytesMax) return Promise.resolve(refusal("too_large", "the request is too large"));
    return new Promise((resolve) => {
      let removeListener = (): void => undefined;
      const give: typeof resolve = (answer) => {
        // The signal may outlive the request.
        removeListener();
        resolve(answer);
      };
      const pump = input === null ? null : new InputPump(id, input, this.#writer, () => this.#stop(id));
      // Only a pending request keeps this process alive.
      if (this.#waiting.size === 0) {
        this.#socket.ref();
        this.#watch();
      }
      this.#waiting.set(id, { along, pump, give, taken: 0 });
      this.#writer.json(text, bytes);
      if (pump !== null) void pump.run();
      if (along?.signal !== undefined) removeListener = onAbort(along.signal, () => this.#stop(id));
    });
  }

  tell(name: string, value: object): boolean {
    const text = JSON.stringify({ tell: name, value });
    if (this.#lost !== null || text.length > notificationCharactersMax) return false;
    this.#writer.json(text, Buffer.byteLength(text));
    return true;
  }

  close(): void {
    this.#isClosed = true;
    this.#writer.flush();
    this.#socket.end();
    this.#lose(noDaemon("the connection was closed"));
  }

  /** INVARIANT: a hung daemon is not waited for: while a request is pending, the daemon sends something in time or all requests fail. */
  #watch(): void {
    this.#hearing();
    this.#pinging ??= setInterval(() => this.#look(), this.#silence.pingMilliseconds).unref();
  }

  #look(): void {
    const silent = performance.now() - this.#heardAt;
    if (this.#lost !== null || this.#waiting.size === 0 || silent < this.#silence.pingMilliseconds / 2) return;
    this.#say({ ping: true });
    // Pings are counted, and not the time: where both processes were suspended, as on a machine that sleeps, none was sent.
    if (++this.#silentPings * this.#silence.pingMilliseconds < this.#silence.givenUpMilliseconds) return;
    const heardAt = this.#heardAt;
    afterReading(() => {
      if (heardAt === this.#heardAt) this.#lose(unresponsive(this.#silence.givenUpMilliseconds));
    });
  }

  #hearing(): void {
    this.#heardAt = performance.now();
    this.#silentPings = 0;
  }

  #next(): number {
    do this.#number = this.#number >= exchangeNumberMax ? 1 : this.#number + 1;
    while (this.#waiting.has(this.#number));
    return this.#number;
  }

  #stop(id: number): void {
    if (this.#waiting.has(id)) this.#say({ id, stop: true });
  }

  #say(message: object): void {
    const text = JSON.stringify(message);
    this.#writer.json(text, Buffer.byteLength(text));
  }

  /** That many bytes are in the buffer, which is reused afterwards. */
  arrive(buffer: Buffer, length: number): void {
    if (this.#lost !== null) return;
    this.#hearing();
    const problem = this.#cutter.take(buffer, length, this.#take);
    if (problem !== null) this.#lose(noDaemon("the daemon sent an invalid message"));
  }

  /** Whether to continue. */
  readonly #take = (frame: Frame): boolean => {
    if (frame.kind === "json") {
      const message = readDaemonMessage(frame.text);
      if (message === null) this.#lose(noDaemon("the daemon sent an invalid message"));
      else this.#hear(message);
    } else if (frame.kind === "bytes") {
      const waiting = this.#waiting.get(frame.id);
      if (waiting !== undefined) this.#takeBytes(frame.id, waiting, frame.channel, frame.bytes);
    }
    return this.#lost === null;
  };

  /** Acknowledges output: the daemon sends more as it is taken, so a program's output is no faster than its reader. */
  #takeBytes(id: number, waiting: PendingRequest, channel: number, bytes: Uint8Array): void {
    const ready = waiting.along?.onBytes?.(channel, bytes);
    const taken = (): void => {
      waiting.taken += bytes.length;
      if (waiting.taken < outputTakenBytes || this.#lost !== null || this.#waiting.get(id) !== waiting) return;
      this.#say({ id, took: waiting.taken });
      waiting.taken = 0;
    };
    if (ready instanceof Promise) void ready.then(taken, () => this.#stop(id));
    else taken();
  }

  #hear(message: DaemonMessage): void {
    switch (message.kind) {
      case "hello":
        this.#hello(message.protocol, message.version);
        return;
      case "refused":
        this.#lose(message.refusal);
        return;
      case "told":
        this.#asked.onEvent?.(message.event);
        return;
      case "pong":
        return;
      case "event":
        this.#waiting.get(message.id)?.along?.onEvent?.(message.event);
        return;
      case "took":
        this.#waiting.get(message.id)?.pump?.room(message.bytes);
        return;
      case "answer":
        this.#answer(message.id, message.answer);
        return;
      default:
        message satisfies never;
    }
  }

  #hello(protocol: number, version: string): void {
    this.daemonVersion = version;
    if (protocol !== protocolVersion) {
      this.#lose(wrongProtocol(protocol, protocolVersion));
      return;
    }
    clearTimeout(this.#timer);
    this.#isGreeted = true;
    const text = helloText(this.#asked.version);
    this.#writer.json(text, Buffer.byteLength(text));
    this.#socket.unref();
    this.#greet(null);
  }

  #answer(id: number, answer: Answer<object>): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    waiting.pump?.over();
    if (this.#waiting.size === 0) {
      this.#socket.unref();
      if (this.#pinging !== null) clearInterval(this.#pinging);
      this.#pinging = null;
    }
    waiting.give(answer as Answer<never>);
  }

  /** INVARIANT: no request stays pending after the connection is lost. */
  #lose(why: Refusal): void {
    if (this.#lost !== null) return;
    this.#lost = why;
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#socket.destroy();
    for (const id of [...this.#waiting.keys()]) this.#answer(id, why);
    if (!this.#isGreeted) this.#greet(why);
    else if (!this.#isClosed) this.#asked.onLost?.(why);
  }
}

function unresponsive(milliseconds: number): Refusal {
  const message = `the daemon has not responded for ${milliseconds / 1000} seconds: the request was cancelled`;
  return refusal("no_answer", message, "ambit daemon stop");
}
