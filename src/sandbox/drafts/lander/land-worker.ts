// The lander of one root: a process of the native program that handles one request at a time. When it ends during a
// request, the result is `lost`, and the draft needs `recover` by a new worker.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Change, Unlandable } from "../../plan/drafts/change.ts";
import {
  type LandAnswer,
  readLandAnswer,
  readLandings,
  readNumbers,
  readScanEnd,
  readScanPart,
} from "../../plan/drafts/land-answer.ts";
import {
  draftReadBytesMax,
  flushFrame,
  isDraftId,
  isLandPath,
  type LandStep,
  landFrames,
  landStepsMax,
  type ReadRequest,
  readFrame,
  recoverFrame,
  scanFrame,
  undoFrame,
} from "../../plan/drafts/land-request.ts";
import { FrameCutter, PayloadReader } from "../../plan/start/frame.ts";
import type {
  DraftReadResult,
  FlushResult,
  LandConflict,
  LandRefusal,
  LandResult,
  LandWorkerReady,
  RecoverResult,
  ScanResult,
  UndoResult,
} from "./land-result.ts";
import { type LandFolders, type LandRestrictions, landSetUpFrames } from "./land-setup.ts";

export interface LandWorkerOptions extends LandFolders {
  /** Path of `ambit-native`. */
  readonly program: string;
  readonly restrictions: LandRestrictions;
  /** The worker is killed when it is silent for so long during a request. */
  readonly silenceMillisecondsMax: number;
}

interface Request {
  readonly frames: (number: number) => readonly Uint8Array[];
  readonly part: (payload: Uint8Array) => boolean;
  readonly answer: (answer: LandAnswer | null) => void;
}

const controlDescriptor = 3;
const EINVAL = 22;
const EPROTO = 71;
/** How long a worker may take to exit after its socket has closed: the end of a landing on a slow disk. */
const graceMilliseconds = 10_000;

export class LandWorker {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #silenceMillisecondsMax: number;
  readonly #queue: Request[] = [];
  readonly ready: Promise<LandWorkerReady | LandRefusal>;
  /** Resolves when its process has exited and every folder it had open is closed. */
  readonly ended: Promise<void>;
  #setReady: (ready: LandWorkerReady | LandRefusal) => void = () => undefined;
  #isReady = false;
  #current: Request | null = null;
  #number = 0;
  #silence: NodeJS.Timeout | null = null;
  #endReason: string | null = null;
  /** The content of an `F` frame before the worker ended. */
  #failure: { readonly errno: number; readonly stage: string } | null = null;

  constructor(options: LandWorkerOptions) {
    this.#silenceMillisecondsMax = options.silenceMillisecondsMax;
    this.ready = new Promise((resolve) => {
      this.#setReady = resolve;
    });
    this.#child = spawn(options.program, ["land", String(controlDescriptor)], {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
      env: {},
      cwd: "/",
    });
    this.#socket = this.#child.stdio[controlDescriptor] as Socket;
    this.ended = new Promise((resolve) => {
      this.#child.on("error", () => {
        this.#end("the lander could not be started");
        if (this.#child.pid === undefined) resolve();
      });
      this.#child.on("exit", () => {
        this.#end("the lander exited");
        resolve();
      });
    });
    this.#child.unref();
    const cutter = new FrameCutter();
    this.#socket.on("data", (chunk: Buffer) => {
      const frames = cutter.push(chunk);
      if (frames === null) this.#end("the lander sent an invalid frame");
      else for (const { kind, payload } of frames) this.#take(kind, payload);
    });
    this.#socket.on("error", () => this.#end("the lander's socket failed"));
    this.#socket.on("close", () => this.#end("the lander closed its socket"));
    this.#socket.write(landSetUpFrames(options, options.restrictions));
    this.#watch();
  }

  /** It answers no further request. */
  get isOver(): boolean {
    return this.#endReason !== null;
  }

  get processId(): number | undefined {
    return this.#child.pid;
  }

  /** What the draft would change. With an alarm nothing of it may land. */
  scan(draft: string): Promise<ScanResult> {
    const changes: Change[] = [];
    const unlandable: Unlandable[] = [];
    return this.#ask<ScanResult>(
      draft,
      (number) => [scanFrame(number, draft, encode)],
      (body) => {
        const end = readScanEnd(body, decode);
        if (end === null || end.changes !== changes.length || end.unlandable !== unlandable.length) return null;
        return { status: "scanned", scan: { changes, unlandable, alarm: end.alarm } };
      },
      unexpected,
      (payload) => {
        const part = readScanPart(payload, decode);
        if (part === null) return false;
        for (const change of part.changes) changes.push(change);
        for (const one of part.unlandable) unlandable.push(one);
        return true;
      },
    );
  }

  /**
   * Lands the steps, all or none, in order: a subset of the last scan, in scan order. `startNanoseconds` is
   * CLOCK_REALTIME_COARSE from before the draft's overlay was mounted.
   */
  land(draft: string, steps: readonly LandStep[], startNanoseconds: bigint): Promise<LandResult> {
    if (steps.length > landStepsMax) return refusal(`more than ${landStepsMax} steps`);
    const wrong = steps.find(({ path }) => !isLandPath(path, encode));
    if (wrong !== undefined) return refusal(`not a path below the root: ${wrong.path.join("/")}`);
    return this.#ask<LandResult>(
      draft,
      (number) => landFrames(number, draft, steps, startNanoseconds, encode),
      (body) => {
        const [landing, changed, alreadyThere] = readNumbers(body, 3) ?? [];
        if (landing === undefined || changed === undefined || alreadyThere === undefined) return null;
        return { status: "landed", landing, changed, alreadyThere };
      },
      conflict,
    );
  }

  /** Reverts one landing, where everything is still as it landed. */
  undo(draft: string, landing: number): Promise<UndoResult> {
    return this.#ask<UndoResult>(
      draft,
      (number) => [undoFrame(number, draft, landing, encode)],
      (body) => (readNumbers(body, 1) === null ? null : { status: "undone", landing }),
      conflict,
    );
  }

  /** Finishes or rolls back every interrupted landing of a draft. The first request after a worker was lost. */
  recover(draft: string): Promise<RecoverResult> {
    return this.#ask<RecoverResult>(
      draft,
      (number) => [recoverFrame(number, draft, encode)],
      (body) => {
        const landings = readLandings(body);
        return landings === null ? null : { status: "recovered", landings };
      },
      conflict,
    );
  }

  /** Resolves when all of a draft is on disk: its overlay flushed nothing. */
  flush(draft: string): Promise<FlushResult> {
    return this.#ask<FlushResult>(
      draft,
      (number) => [flushFrame(number, draft, encode)],
      (body) => (body.length === 0 ? { status: "flushed" } : null),
      unexpected,
    );
  }

  read(draft: string, request: ReadRequest): Promise<DraftReadResult> {
    const bytesMax = Math.min(request.bytesMax, draftReadBytesMax);
    if (!isLandPath(request.path, encode)) return refusal("not a path below the root");
    if (!Number.isSafeInteger(request.offset) || request.offset < 0 || !(bytesMax >= 0))
      return refusal("not an offset");
    return this.#ask<DraftReadResult>(
      draft,
      (number) => [readFrame(number, draft, { ...request, bytesMax }, encode)],
      (body) => {
        const size = new PayloadReader(body).u64();
        return size === null ? null : { status: "read", size: Number(size), bytes: body.slice(8) };
      },
      unexpected,
    );
  }

  /** The worker finishes its current request and exits. */
  close(): void {
    this.#end("the lander was closed");
  }

  #ask<T>(
    draft: string,
    frames: Request["frames"],
    done: (body: Uint8Array) => T | null,
    conflicted: (answer: LandAnswer & { readonly status: "conflict" | "stuck" }) => T | null,
    part: Request["part"] = () => false,
  ): Promise<T | LandRefusal> {
    if (!isDraftId(draft)) return refusal("not the id of a draft");
    return new Promise((resolve) => {
      if (this.#endReason !== null) {
        resolve(this.#lost(this.#endReason));
        return;
      }
      const answer = (given: LandAnswer | null): void => {
        if (given === null) resolve(this.#lost(this.#endReason ?? "the lander exited"));
        else if (given.status === "refused") resolve(given);
        else resolve((given.status === "done" ? done(given.body) : conflicted(given)) ?? this.#garbled());
      };
      this.#queue.push({ frames, part, answer });
      this.#next();
    });
  }

  #next(): void {
    if (!this.#isReady || this.#current !== null) return;
    const request = this.#queue.shift();
    if (request === undefined) {
      this.#socket.unref();
      return;
    }
    this.#current = request;
    this.#number = (this.#number + 1) >>> 0;
    this.#socket.ref();
    for (const frame of request.frames(this.#number)) this.#socket.write(frame);
    this.#watch();
  }

  #take(kind: string, payload: Uint8Array): void {
    if (this.#endReason !== null) return;
    if (kind === "F") {
      const reader = new PayloadReader(payload);
      const [errno, stage] = [reader.i32() ?? 0, reader.text()];
      this.#failure = { errno, stage: stage === null ? "" : Buffer.from(stage).toString("utf8") };
      this.#end(`the lander failed: ${this.#failure.stage} (errno ${errno})`);
      return;
    }
    if (!this.#isReady) {
      this.#makeReady(kind, payload);
      return;
    }
    const request = this.#current;
    if (request === null || payload.length < 4 || new PayloadReader(payload).u32() !== this.#number) {
      this.#garbled();
      return;
    }
    this.#watch();
    if (kind === "c") {
      if (!request.part(payload)) this.#garbled();
      return;
    }
    const answer = kind === "A" ? readLandAnswer(payload, decode) : null;
    if (answer === null) {
      this.#garbled();
      return;
    }
    this.#current = null;
    this.#unwatch();
    request.answer(answer);
    this.#next();
  }

  #makeReady(kind: string, payload: Uint8Array): void {
    const reader = new PayloadReader(payload);
    const [landlock, seccomp, renames] = [reader.u8(), reader.u8(), reader.u8()];
    const root = { device: reader.u64() ?? -1n, inode: reader.u64() ?? -1n };
    const drafts = { device: reader.u64() ?? -1n, inode: reader.u64() ?? -1n };
    if (kind !== "R" || drafts.inode === -1n || reader.rest().length > 0) {
      this.#garbled();
      return;
    }
    this.#isReady = true;
    this.#unwatch();
    this.#setReady({ landlock: landlock === 1, seccomp: seccomp === 1, renames: renames === 1, root, drafts });
    this.#next();
  }

  #watch(): void {
    this.#unwatch();
    this.#silence = setTimeout(() => {
      this.#child.kill("SIGKILL");
      this.#end("the lander did not answer in time and was killed");
    }, this.#silenceMillisecondsMax);
    this.#silence.unref();
  }

  #unwatch(): void {
    if (this.#silence !== null) clearTimeout(this.#silence);
    this.#silence = null;
  }

  #garbled(): LandRefusal {
    this.#end("the lander sent a response that cannot be parsed");
    return this.#lost("the lander sent a response that cannot be parsed");
  }

  #lost(reason: string): LandRefusal {
    return { status: "lost", reason };
  }

  #end(reason: string): void {
    if (this.#endReason !== null) return;
    this.#endReason = reason;
    this.#unwatch();
    this.#socket?.destroy();
    // A caller that awaits `ended` may have nothing else that keeps this process alive.
    this.#child.ref();
    const late = setTimeout(() => this.#child.kill("SIGKILL"), graceMilliseconds);
    late.unref();
    this.#child.once("exit", () => clearTimeout(late));
    const requests = this.#current === null ? this.#queue : [this.#current, ...this.#queue];
    this.#current = null;
    this.#setReady(
      this.#failure === null
        ? this.#lost(reason)
        : { status: "refused", errno: this.#failure.errno, reason: `cannot set up the lander: ${this.#failure.stage}` },
    );
    for (const request of requests.splice(0)) request.answer(null);
  }
}

function conflict(answer: LandAnswer & { readonly status: "conflict" | "stuck" }): LandConflict {
  if (answer.status === "stuck") return answer;
  return { status: "conflict", conflicts: answer.conflicts };
}

/** A scan and a read change nothing, so they conflict with nothing. */
function unexpected(): LandRefusal {
  return { status: "refused", errno: EPROTO, reason: "the lander reported a conflict where there can be none" };
}

function refusal(reason: string): Promise<LandRefusal> {
  return Promise.resolve({ status: "refused", errno: EINVAL, reason });
}

function encode(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}

function decode(bytes: Uint8Array): string | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = view.toString("utf8");
  return text.includes("\uFFFD") && !Buffer.from(text).equals(view) ? null : text;
}
