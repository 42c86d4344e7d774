// One file worker process: started, set up, sent requests, ended. Any protocol error ends it, and its pending requests
// are answered with null.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { PayloadReader } from "../plan/start/frame.ts";
import type { OpenTree } from "./open-trees.ts";
import { AnswerStream, numberAt } from "./wire.ts";
import { setUpFrames, type WorkerRestrictions } from "./worker-setup.ts";

/** Null: the worker is gone. */
export type AnswerCallback = (payload: Buffer | null) => void;

export interface WorkerOptions {
  readonly program: string;
  readonly trees: readonly OpenTree[];
  readonly restrictions: WorkerRestrictions;
  readonly fileBytesMax: number;
  /** A worker that is silent for so long while requests are pending is killed. */
  readonly silenceMillisecondsMax: number;
}

/** What the kernel enforces, as the worker reports it after its set-up. */
export interface WorkerEnforcement {
  readonly landlock: boolean;
  readonly seccomp: boolean;
}

const controlDescriptor = 3;
const [A, R] = ["A".charCodeAt(0), "R".charCodeAt(0)];

/** One write at most, on a slow disk. */
const graceMilliseconds = 2000;

export class FileWorker {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #trees: readonly OpenTree[];
  readonly #onReady: (worker: FileWorker) => void;
  readonly #onEnd: (worker: FileWorker) => void;
  /** In request order, which is also the order of the answers. */
  #waiting: AnswerCallback[] = [];
  #answered = 0;
  #number = 0;
  #expected = 0;
  #ended = false;
  #isGathering = false;
  readonly #silenceMillisecondsMax: number;
  /** One timer while requests are pending, however many come and go. */
  #watch: NodeJS.Timeout | null = null;
  /** Null until it is ready. */
  enforcement: WorkerEnforcement | null = null;

  constructor(start: WorkerOptions, onReady: (worker: FileWorker) => void, onEnd: (worker: FileWorker) => void) {
    this.#trees = start.trees;
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
    // The worker exits when our end of its socket closes. It keeps this process alive only while requests are pending.
    this.#child.unref();
    if (this.#socket === undefined || this.#socket === null) return;
    const stream = new AnswerStream((kind, payload) => this.#take(kind, payload));
    this.#socket.on("data", (chunk: Buffer) => {
      if (!stream.push(chunk)) this.end();
    });
    this.#socket.on("error", () => this.end());
    this.#socket.on("close", () => this.end());
    this.#socket.write(setUpFrames(start.trees, start.restrictions, start.fileBytesMax));
    this.#listen();
  }

  /** Requests without an answer. */
  get pending(): number {
    return this.#waiting.length - this.#answered;
  }

  get processId(): number | undefined {
    return this.#child.pid;
  }

  ask(request: Buffer, answered: AnswerCallback): void {
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

  /** The worker finishes the operation it is in, and starts no other: its answers are discarded. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#watch !== null) clearTimeout(this.#watch);
    const pending = this.#waiting.slice(this.#answered);
    this.#waiting = [];
    this.#answered = 0;
    this.#socket?.destroy();
    const late = setTimeout(() => this.#child.kill("SIGKILL"), graceMilliseconds);
    late.unref();
    this.#child.once("exit", () => clearTimeout(late));
    this.#onEnd(this);
    for (const answered of pending) answered(null);
  }

  /** Requests of one event-loop turn are sent with one system call. */
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
    const heard = this.enforcement === null ? -1 : this.#expected;
    this.#watch = setTimeout(() => {
      this.#watch = null;
      if (this.enforcement !== null && this.pending === 0) return;
      if ((this.enforcement === null ? -1 : this.#expected) !== heard) {
        this.#listen();
        return;
      }
      // The worker may never notice that its socket is closed.
      this.#child.kill("SIGKILL");
      this.end();
    }, this.#silenceMillisecondsMax);
    this.#watch.unref();
  }

  #take(kind: number, payload: Buffer): void {
    if (this.#ended) return;
    if (this.enforcement === null) this.#makeReady(kind, payload);
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

  /** INVARIANT: what the worker opened is what we identified; a root that was replaced in between is not served. */
  #makeReady(kind: number, payload: Buffer): void {
    const reader = new PayloadReader(payload);
    const [landlock, seccomp, count] = [reader.u8(), reader.u8(), reader.u32()];
    const same = this.#trees.every(({ device, inode }) => reader.u64() === device && reader.u64() === inode);
    if (kind !== R || count !== this.#trees.length || !same || reader.rest().length > 0) {
      this.end();
      return;
    }
    this.enforcement = { landlock: landlock === 1, seccomp: seccomp === 1 };
    if (this.#waiting.length === 0) this.#socket.unref();
    this.#onReady(this);
  }
}

/** Consecutive ends without an answer in between. */
const vainStartsMax = 3;
const startsMax = 10_000;
/** Requests in flight, or waiting for a worker's set-up. */
const waitingMax = 16_384;

/** Starts a worker on the first request and again after it ended; gives up when workers keep ending without an answer. */
export class FileWorkers {
  readonly #start: WorkerOptions;
  #worker: FileWorker | null = null;
  #ready: FileWorker | null = null;
  #waiting: { readonly request: Buffer; readonly answered: AnswerCallback }[] = [];
  #starts = 0;
  #vain = 0;
  #closed = false;

  constructor(start: WorkerOptions) {
    this.#start = start;
  }

  get enforcement(): WorkerEnforcement | null {
    return this.#ready?.enforcement ?? null;
  }

  get processId(): number | undefined {
    return this.#worker?.processId;
  }

  ask(request: Buffer, answered: AnswerCallback): void {
    if (this.#ready !== null && this.#ready.pending >= waitingMax) {
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

  /** The answer for a worker that could not be understood. */
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
