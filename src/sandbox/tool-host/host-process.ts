// One tool host from start to end: a process in a sandbox that speaks over its standard input and output. It has a copy
// of the tool's files, no network, no environment variables, and no folder but a temporary one.
import { Fifo } from "../../core/base/fifo.ts";
import type { Enforcement } from "../../core/ports/enforcement.ts";
import type { Limits, Plan, PlanPath } from "../plan/plan.ts";
import { temporaryFolder } from "../plan/plan-path.ts";
import { whyEnded } from "../plan/run-outcome.ts";
import type { Sandboxes } from "../plan/sandboxes.ts";
import { frameBytesMax, frameValuesMax, ToolFrames, toolFrame } from "./frames.ts";

/** From Node 24 on V8 maps all writable memory for machine code at once: with a lower limit it would not start. */
const codeRoom = Number.parseInt(process.versions.node, 10) >= 24 ? { unusedBytes: 536_870_912 } : {};

/** A host lives for a whole session; the limits of one call are its caller's. */
const LIMITS: Limits = {
  wallMilliseconds: 0,
  cpuSeconds: 3_600,
  // With a control group the tree's memory counts; this applies without one.
  memoryBytes: 2_147_483_648,
  treeMemoryBytes: 536_870_912,
  ...codeRoom,
  processes: 64,
  fileBytes: 67_108_864,
  openFiles: 256,
  outputBytes: 1_099_511_627_776,
  temporaryBytes: 67_108_864,
  draftBytes: 1_073_741_824,
  draftFiles: 100_000,
};

/** No native addons, and limited memory. */
const OPTIONS: readonly string[] = ["--no-addons", "--max-old-space-size=192", "--disable-wasm-trap-handler"];

export interface HostOptions {
  readonly sandboxes: Sandboxes;
  /** The owner: hosts with the same name end together. */
  readonly owner: string;
  readonly session: string;
  /** A folder that was created for it. */
  readonly folder: string;
  /** The tool's module, as a host imports it. */
  readonly entry: string;
  /** Node's path, without links. */
  readonly node: string;
}

export type MessageListener = (message: Readonly<Record<string, unknown>>) => void;

export class HostProcess {
  readonly #cancel = new AbortController();
  /** Messages to the host that it has not consumed yet. */
  readonly #queue = new Fifo<Buffer>();
  #queueBytes = 0;
  readonly #frames = new ToolFrames();
  #wake: (() => void) | null = null;
  /** Called when it consumed a message, or has ended. */
  #wakeReader: (() => void) | null = null;
  #hearing: Promise<void> | null = null;
  #hasNewBytes = false;
  #isOver = false;
  #heard: MessageListener = () => undefined;
  #complaint = "";
  /** Why we ended it, where its output was the reason. */
  #brokenBy: string | null = null;
  #enforcement: readonly Enforcement[] = [];
  /** Why it has ended, once it has. */
  readonly ended: Promise<string>;

  constructor(asked: HostOptions) {
    const plan = planOf(asked);
    const argv = [asked.node, ...OPTIONS, `${asked.folder}/host.cjs`, asked.entry] as const;
    const owner = { agent: asked.owner, session: asked.session, generation: 0 };
    this.ended = asked.sandboxes
      .run(
        owner,
        plan,
        { argv: argv as unknown as readonly [string, ...string[]], input: this.#input() },
        {
          output: (bytes) => this.#take(bytes),
          errors: (bytes) => this.#complain(bytes),
          held: (by) => {
            this.#enforcement = by;
          },
        },
        // It has no network: there is nothing to decide.
        () => ({ outcome: "deny", code: "capability_absent", at: null }),
        this.#cancel.signal,
      )
      .then((result) => this.#over(whyEnded(result)))
      .catch(() => this.#over("it could not be started"));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Its last error output, for a person. */
  get complaint(): string {
    return this.#complaint;
  }

  /** What is enforced, reported before its first message. */
  get enforcement(): readonly Enforcement[] {
    return this.#enforcement;
  }

  hear(heard: MessageListener): void {
    this.#heard = heard;
  }

  /** False where the message cannot be sent. */
  say(message: object): boolean {
    const frame = this.#isOver ? null : toolFrame(message);
    if (frame === null) return false;
    this.#queue.push(frame);
    this.#queueBytes += frame.length;
    this.#wake?.();
    return true;
  }

  end(): void {
    this.#isOver = true;
    this.#cancel.abort();
    this.#wake?.();
    this.#wakeReader?.();
  }

  #over(why: string): string {
    this.#isOver = true;
    this.#wake?.();
    this.#wakeReader?.();
    return this.#brokenBy ?? why;
  }

  /** Backpressure: a host that writes faster than we read, or does not read its input, blocks when it writes. */
  #take(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    this.#frames.add(bytes);
    this.#hasNewBytes = true;
    return this.#listen();
  }

  /** INVARIANT: bytes that arrive while messages are handled, or just after the last one, are handled too. */
  #listen(): Promise<void> {
    this.#hearing ??= this.#hearAll().finally(() => {
      this.#hearing = null;
      if (this.#hasNewBytes && !this.#isOver) void this.#listen();
    });
    return this.#hearing;
  }

  async #hearAll(): Promise<void> {
    while (this.#hasNewBytes && !this.#isOver) {
      this.#hasNewBytes = false;
      await this.#hear();
    }
  }

  /** A few messages in each event-loop turn, and no more than half of the time. */
  async #hear(): Promise<void> {
    for (;;) {
      const before = performance.now();
      let spent = 0;
      while (spent < hearMilliseconds && this.#queueBytes <= queueBytesMax) {
        if (this.#isOver) return;
        const next = this.#frames.next();
        if (next.kind === "none") return;
        // Bytes that are no message were written by the tool itself, past the guards of the host.
        if (next.kind === "broken") {
          this.#brokenBy ??= UNREADABLE;
          return this.end();
        }
        const { message } = next;
        if (typeof message === "object" && message !== null && !Array.isArray(message))
          this.#heard(message as Readonly<Record<string, unknown>>);
        spent = performance.now() - before;
      }
      await pause(spent);
      while (this.#queueBytes > queueBytesMax && !this.#isOver)
        await new Promise<void>((wake) => {
          this.#wakeReader = wake;
        });
    }
  }

  #complain(bytes: Uint8Array): void {
    this.#complaint = (this.#complaint + Buffer.from(bytes).toString("utf8")).slice(-complaintCharactersMax);
  }

  async *#input(): AsyncIterable<Uint8Array> {
    for (;;) {
      const next = this.#queue.take();
      if (next !== undefined) {
        yield next;
        this.#queueBytes -= next.length;
        if (this.#queueBytes <= queueBytesMax) this.#wakeReader?.();
      } else if (this.#isOver) return;
      else
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
    }
  }
}

const UNREADABLE = `it sent an invalid message; a message is JSON of at most ${frameBytesMax} bytes and ${frameValuesMax} values`;
const complaintCharactersMax = 4_096;
/** How much input may be queued for a host before its output is paused. */
const queueBytesMax = 1_048_576;
/** How long one host is served before others are. */
const hearMilliseconds = 4;

/** Pauses as long as was spent: others get the other half of the time. */
function pause(spent: number): Promise<void> {
  return new Promise((done) => {
    if (spent < hearMilliseconds) setImmediate(done);
    else setTimeout(done, Math.min(spent, 1_000));
  });
}

function planOf({ folder, node }: HostOptions): Plan {
  const own = segments(folder);
  const beside = segments(node).slice(0, -1);
  // Every sandbox sees the system's own programs.
  const runtime = beside[0] === "usr" ? [own] : [own, beside];
  const trees = { root: null, runtime };
  return {
    ...trees,
    masked: [],
    directory: temporaryFolder(trees),
    environment: [],
    network: null,
    limits: LIMITS,
  };
}

function segments(path: string): PlanPath {
  return path.split("/").filter((name) => name !== "");
}
