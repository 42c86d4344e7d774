// One process of an MCP server in its sandbox: lines in, lines out, within limits. Its error output is kept for a person.
import { Fifo } from "../../core/base/fifo.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { Enforcement } from "../../core/ports/enforcement.ts";
import type { RunResult, Sinks } from "../../core/ports/process.ts";
import { whyEnded } from "../../sandbox/plan/run-outcome.ts";
import { LineReader } from "../../text/line-reader.ts";
import { type ServerConnection, type ServerListener, serverLineBytesMax } from "./server-connection.ts";

/** Runs until the program exits or is stopped. */
export type StartServer = (run: {
  readonly input: AsyncIterable<Uint8Array>;
  readonly sinks: Sinks;
  readonly signal: AbortSignal;
}) => Promise<RunResult>;

const complaintCharactersMax = 4_096;
/** Unread input of the server at which no further call is sent to it. */
const queueBytesMax = 33_554_432;
/** A longer line is skipped; one that does not end by then never does. */
const openLineBytesMax = 134_217_728;
/** How long one server is heard before others are. */
const hearMilliseconds = 4;

export class ServerProcess implements ServerConnection {
  readonly #lines = new LineReader(serverLineBytesMax);
  readonly #queue = new Fifo<Buffer>();
  #queueBytes = 0;
  #wake: (() => void) | null = null;
  readonly #stopping = new AbortController();
  #isOver = false;
  #endedBy: string | null = null;
  #complaint = "";
  #enforcement: readonly Enforcement[] = [];
  #heard: ServerListener["heard"] = () => true;
  readonly ended: Promise<string>;
  readonly isReceiving = true;
  readonly isRemote = false;

  /** `revealed`: what the program has beyond its walls. */
  constructor(start: StartServer, revealed: readonly Enforcement[] = []) {
    const { signal } = this.#stopping;
    const sinks: Sinks = {
      output: (bytes) => this.#take(bytes),
      errors: (bytes) => {
        this.#complaint = (this.#complaint + Buffer.from(bytes).toString("utf8")).slice(-complaintCharactersMax);
      },
      held: (by) => {
        this.#enforcement = [...by, ...revealed];
      },
    };
    // In a later event-loop turn: the owner has set its listener by then.
    this.ended = Promise.resolve()
      .then(() => start({ input: this.#input(), sinks, signal }))
      .then(whyEnded, () => "it could not be started")
      .then((why) => {
        this.#isOver = true;
        this.#wake?.();
        return this.#endedBy ?? why;
      });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get complaint(): string {
    return this.#complaint;
  }

  get enforcement(): readonly Enforcement[] {
    return this.#enforcement;
  }

  hear({ heard }: ServerListener): void {
    this.#heard = heard;
  }

  /** Lines are the same in all versions. */
  speak(): void {}

  /** It is heard in any case. */
  listen(): void {}

  say(message: JsonObject): boolean {
    if (this.#isOver || this.#queueBytes > queueBytesMax) return false;
    const line = Buffer.from(`${JSON.stringify(message)}\n`, "utf8");
    this.#queue.push(line);
    this.#queueBytes += line.length;
    this.#wake?.();
    return true;
  }

  end(why: string | null): void {
    this.#endedBy ??= why;
    this.#isOver = true;
    this.#stopping.abort();
    this.#wake?.();
  }

  /** Backpressure: a server that writes faster than it is heard blocks when it writes, and takes at most half of the time. */
  #take(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    const before = performance.now();
    this.#lines.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), (line) =>
      this.#isOver ? false : this.#heard(line.kind === "line" ? line.text : null),
    );
    if (this.#lines.openBytes > openLineBytesMax)
      this.end(`it breaks the protocol: a line does not end within ${openLineBytesMax} bytes`);
    const spent = performance.now() - before;
    if (spent < hearMilliseconds) return undefined;
    return new Promise((done) => setTimeout(done, Math.min(spent, 1_000)));
  }

  async *#input(): AsyncIterable<Uint8Array> {
    for (;;) {
      const next = this.#queue.take();
      if (next !== undefined) {
        yield next;
        this.#queueBytes -= next.length;
      } else if (this.#isOver) return;
      else
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
    }
  }
}
