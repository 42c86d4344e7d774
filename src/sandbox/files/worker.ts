// The file worker's process: `FileWorker` is one process, which ends at its first mistake and answers every open request with
// null; `FileWorkers` starts one when a request needs it.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { PayloadReader } from "../plan/start/frame.ts";
import type { Place } from "./places.ts";
import { setUpFrames, type Walls } from "./walls.ts";
import { AnswerStream, numberAt } from "./wire.ts";

/** Null: the worker is gone. */
type Answered = (payload: Buffer | null) => void;

interface Start {
  readonly program: string;
  readonly places: readonly Place[];
  readonly walls: Walls;
  readonly fileBytesMax: number;
  /** A worker that says nothing for so long, although it owes something, is ended. */
  readonly silenceMillisecondsMax: number;
}

/** What the kernel holds, as the worker says it after it was set up. */
export interface Held {
  readonly landlock: boolean;
  readonly seccomp: boolean;
}

const controlDescriptor = 3;
const [A, R] = ["A".charCodeAt(0), "R".charCodeAt(0)];

/** One write at most, on a slow disk. */
const graceMilliseconds = 2000;

class FileWorker {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #places: readonly Place[];
  readonly #onReady: (worker: FileWorker) => void;
  readonly #onEnd: (worker: FileWorker) => void;
  /** In the order they were asked: the worker answers in that order. */
  #waiting: Answered[] = [];
  #answered = 0;
  #number = 0;
  #expected = 0;
  #ended = false;
  #isGathering = false;
  readonly #silenceMillisecondsMax: number;
  /** One timer for as long as something is owed, however much is asked and answered meanwhile. */
  #watch: NodeJS.Timeout | null = null;
  /** Null until it is ready. */
  held: Held | null = null;

  constructor(start: Start, onReady: (worker: FileWorker) => void, onEnd: (worker: FileWorker) => void) {
    this.#places = start.places;
    this.#onReady = onReady;
    this.#onEnd = onEnd;
    this.#silenceMillisecondsMax = start.silenceMillisecondsMax;
    this.#child = spawn(start.program, ["files", String(controlDescriptor)], {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
      env: {},
      cwd: "/",
    });
    this.#socket = this.#child.stdio[controlDescriptor] as Socket;
    this.#child.on("error", () => this.end());
    this.#child.on("exit", () => this.end());
    // It outlives nobody: without us its socket ends, and so does it. It keeps nobody waiting but those who asked.
    this.#child.unref();
    if (this.#socket === undefined || this.#socket === null) return;
    const stream = new AnswerStream((kind, payload) => this.#take(kind, payload));
    this.#socket.on("data", (chunk: Buffer) => {
      if (!stream.push(chunk)) this.end();
    });
    this.#socket.on("error", () => this.end());
    this.#socket.on("close", () => this.end());
    this.#socket.write(setUpFrames(start.places, start.walls, start.fileBytesMax));
    this.#listen();
  }

  /** Requests it has not answered. */
  get owed(): number {
    return this.#waiting.length - this.#answered;
  }

  get processId(): number | undefined {
    return this.#child.pid;
  }

  ask(request: Buffer, answered: Answered): void {
    if (this.#ended) {
      answered(null);
      return;
    }
    if (this.#answered === this.#waiting.length) this.#socket.ref();
    this.#waiting.push(answered);
    if (this.#watch === null) this.#listen();
    request.writeUInt32LE(this.#number, numberAt);
    this.#number = (this.#number + 1) >>> 0;
    this.#gather();
    this.#socket.write(request);
  }

  /** It puts in place what it is in the middle of, and begins nothing more: its answers go nowhere. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#watch !== null) clearTimeout(this.#watch);
    const owed = this.#waiting.slice(this.#answered);
    this.#waiting = [];
    this.#answered = 0;
    this.#socket?.destroy();
    const late = setTimeout(() => this.#child.kill("SIGKILL"), graceMilliseconds);
    late.unref();
    this.#child.once("exit", () => clearTimeout(late));
    this.#onEnd(this);
    for (const answered of owed) answered(null);
  }

  /** What is asked before anything else arrives goes out at once: one system call. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#socket.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      this.#socket.uncork();
    });
  }

  #listen(): void {
    const heard = this.held === null ? -1 : this.#expected;
    this.#watch = setTimeout(() => {
      this.#watch = null;
      if (this.held !== null && this.owed === 0) return;
      if ((this.held === null ? -1 : this.#expected) !== heard) {
        this.#listen();
        return;
      }
      // It may never hear that nobody wants it any more.
      this.#child.kill("SIGKILL");
      this.end();
    }, this.#silenceMillisecondsMax);
    this.#watch.unref();
  }

  #take(kind: number, payload: Buffer): void {
    if (this.#ended) return;
    if (this.held === null) this.#makeReady(kind, payload);
    else if (kind !== A || payload.length < 5 || payload.readUInt32LE(0) !== this.#expected) this.end();
    else this.#answer(payload);
  }

  #answer(payload: Buffer): void {
    const answered = this.#waiting[this.#answered++];
    if (answered === undefined) {
      this.end();
      return;
    }
    this.#expected = (this.#expected + 1) >>> 0;
    if (this.#answered === this.#waiting.length) {
      this.#waiting = [];
      this.#answered = 0;
      this.#socket.unref();
    }
    answered(payload);
  }

  /** INVARIANT: what it opened is what we looked at; a root that was replaced meanwhile is not served. */
  #makeReady(kind: number, payload: Buffer): void {
    const reader = new PayloadReader(payload);
    const [landlock, seccomp, count] = [reader.u8(), reader.u8(), reader.u32()];
    const same = this.#places.every(({ device, inode }) => reader.u64() === device && reader.u64() === inode);
    if (kind !== R || count !== this.#places.length || !same || reader.rest().length > 0) {
      this.end();
      return;
    }
    this.held = { landlock: landlock === 1, seccomp: seccomp === 1 };
    if (this.#waiting.length === 0) this.#socket.unref();
    this.#onReady(this);
  }
}

/** Ends one after the other, without an answer between them. */
const vainStartsMax = 3;
const startsMax = 10_000;
/** Requests under way, or waiting for a worker to be set up. */
const waitingMax = 16_384;

/** Starts a worker with the first request and again after it ended, and gives up after `vainStartsMax` starts without an answer. */
export class FileWorkers {
  readonly #start: Start;
  #worker: FileWorker | null = null;
  #ready: FileWorker | null = null;
  #waiting: { readonly request: Buffer; readonly answered: Answered }[] = [];
  #starts = 0;
  #vain = 0;
  #closed = false;

  constructor(start: Start) {
    this.#start = start;
  }

  get held(): Held | null {
    return this.#ready?.held ?? null;
  }

  get processId(): number | undefined {
    return this.#worker?.processId;
  }

  ask(request: Buffer, answered: Answered): void {
    if (this.#ready !== null && this.#ready.owed >= waitingMax) {
      answered(null);
      return;
    }
    if (this.#ready !== null) {
      this.#ready.ask(request, (payload) => {
        if (payload !== null) this.#vain = 0;
        answered(payload);
      });
      return;
    }
    if (!this.#begin() || this.#waiting.length >= waitingMax) answered(null);
    else this.#waiting.push({ request, answered });
  }

  close(): void {
    this.#closed = true;
    this.#worker?.end();
  }

  /** What the worker does not understand of itself: a broken answer. */
  breakOff(): void {
    this.#worker?.end();
  }

  #begin(): boolean {
    if (this.#worker !== null) return true;
    if (this.#closed || this.#vain >= vainStartsMax || this.#starts >= startsMax) return false;
    this.#starts++;
    this.#vain++;
    this.#worker = new FileWorker(
      this.#start,
      (worker) => this.#serve(worker),
      (worker) => this.#forget(worker),
    );
    return true;
  }

  #serve(worker: FileWorker): void {
    this.#ready = worker;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { request, answered } of waiting) this.ask(request, answered);
  }

  #forget(worker: FileWorker): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#ready = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { answered } of waiting) answered(null);
  }
}
