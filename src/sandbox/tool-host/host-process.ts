// One host from its start to its end: a process in a sandbox, spoken to over its standard input and output. It has a copy of
// the tool's files, no network, no variables, no folder but a temporary one, and nothing of anybody else.

import { Fifo } from "../../core/base/fifo.ts";
import type { Enforcement } from "../../core/ports/enforcement.ts";
import type { RunRefusal, RunResult } from "../../core/ports/process.ts";
import { temporaryFolder } from "../plan/places.ts";
import type { Limits, Plan, PlanPath } from "../plan/plan.ts";
import type { Sandboxes, Stop } from "../plan/sandboxes.ts";
import { frameBytesMax, frameValuesMax, ToolFrames, toolFrame } from "./frames.ts";

/** From Node 24 on V8 maps all the room it might need for machine code at once, to write to: it would not even start. */
const codeRoom = Number.parseInt(process.versions.node, 10) >= 24 ? { unusedBytes: 536_870_912 } : {};

/** A host lives for a whole session; what one call may take is its caller's to say. */
const LIMITS: Limits = {
  wallMilliseconds: 0,
  cpuSeconds: 3_600,
  // With a group of its own the tree's memory counts; this holds where there is none.
  memoryBytes: 2_147_483_648,
  treeMemoryBytes: 536_870_912,
  ...codeRoom,
  processes: 64,
  fileBytes: 67_108_864,
  openFiles: 256,
  outputBytes: 1_099_511_627_776,
  temporaryBytes: 67_108_864,
};

/** No machine code of others, and no more memory than a tool needs. */
const OPTIONS: readonly string[] = ["--no-addons", "--max-old-space-size=192", "--disable-wasm-trap-handler"];

export interface HostAsked {
  readonly sandboxes: Sandboxes;
  /** Whose it is: ended with everything else of the same name. */
  readonly owner: string;
  readonly session: string;
  /** A folder that was made for it. */
  readonly folder: string;
  /** The tool's module, as a host imports it. */
  readonly entry: string;
  /** Node, without links. */
  readonly node: string;
}

export type Heard = (message: Readonly<Record<string, unknown>>) => void;

export class HostProcess {
  readonly #stops: (() => void)[] = [];
  /** What is said to it and was not taken yet. */
  readonly #queue = new Fifo<Buffer>();
  #queueBytes = 0;
  readonly #frames = new ToolFrames();
  #wake: (() => void) | null = null;
  /** Rings when it took something, or is over. */
  #roomRing: (() => void) | null = null;
  #hearing: Promise<void> | null = null;
  #isOver = false;
  #heard: Heard = () => undefined;
  #complaint = "";
  /** Why we ended it ourselves, where its output was the reason. */
  #brokenBy: string | null = null;
  #enforcement: readonly Enforcement[] = [];
  /** Why there is nothing any more, once that is so. */
  readonly ended: Promise<string>;

  constructor(asked: HostAsked) {
    const plan = planOf(asked);
    const isOver = (): boolean => this.#isOver;
    const stop: Stop = {
      get stopped() {
        return isOver();
      },
      onStop: (ring) => {
        if (isOver()) ring();
        else this.#stops.push(ring);
      },
    };
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
        // It has no network: there is nothing to be decided.
        () => ({ outcome: "deny", code: "capability_absent", at: null }),
        stop,
      )
      .then((result) => this.#over(wordsOf(result)))
      .catch(() => this.#over("it could not be started"));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What it printed last, for a person. */
  get complaint(): string {
    return this.#complaint;
  }

  /** What holds it, told before anything it says is heard. */
  get enforcement(): readonly Enforcement[] {
    return this.#enforcement;
  }

  hear(heard: Heard): void {
    this.#heard = heard;
  }

  /** False where it cannot be said. */
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
    for (const ring of this.#stops.splice(0)) ring();
    this.#wake?.();
    this.#roomRing?.();
  }

  #over(why: string): string {
    this.#isOver = true;
    this.#wake?.();
    this.#roomRing?.();
    return this.#brokenBy ?? why;
  }

  /** Back-pressure: a host that says more than is heard, or does not take what it is told, waits when it writes. */
  #take(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    this.#frames.add(bytes);
    this.#hearing ??= this.#hear().finally(() => {
      this.#hearing = null;
    });
    return this.#hearing;
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
        // What is no message of ours was written by the tool itself, past everything that keeps it from that.
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
        await new Promise<void>((ring) => {
          this.#roomRing = ring;
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
        if (this.#queueBytes <= queueBytesMax) this.#roomRing?.();
      } else if (this.#isOver) return;
      else
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
    }
  }
}

const UNREADABLE = `it sent what is no message: JSON of at most ${frameBytesMax} bytes and ${frameValuesMax} values`;
const complaintCharactersMax = 4_096;
/** What may wait for a host before nothing more is heard from it. */
const queueBytesMax = 1_048_576;
/** One host is heard for so long before others have their turn. */
const hearMilliseconds = 4;

/** As long as was spent: others have the other half of the time. */
function pause(spent: number): Promise<void> {
  return new Promise((done) => {
    if (spent < hearMilliseconds) setImmediate(done);
    else setTimeout(done, Math.min(spent, 1_000));
  });
}

function planOf({ folder, node }: HostAsked): Plan {
  const own = segments(folder);
  const beside = segments(node).slice(0, -1);
  // A system's own programs are seen by every sandbox.
  const runtime = beside[0] === "usr" ? [own] : [own, beside];
  const walls = { root: null, runtime };
  return {
    ...walls,
    masked: [],
    directory: temporaryFolder(walls),
    environment: [],
    network: null,
    limits: LIMITS,
  };
}

function segments(path: string): PlanPath {
  return path.split("/").filter((name) => name !== "");
}

function wordsOf(result: RunResult): string {
  if (!result.ok) return refusedWords(result.refused);
  const { ending } = result.ran;
  switch (ending.kind) {
    case "exited":
      return `it exited with ${ending.status}`;
    case "signalled":
      return `it was ended by signal ${ending.signal}`;
    case "ended":
      return `it was ended (${ending.because})`;
    case "unstarted":
      return `it could not be started: ${ending.reason}`;
    default:
      return ending satisfies never;
  }
}

function refusedWords({ message, fix }: RunRefusal): string {
  return fix === null ? message : `${message}; ${fix}`;
}
