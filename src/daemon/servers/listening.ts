// A connection on which a server says what changed, without being asked. One that is lost is opened again after a pause that doubles;
// one that the server refuses is not.

/** How one connection ended. */
export type ListenEnd = "lost" | "refused";

export interface ListeningOptions {
  /** Until the connection ends. Calls `opened` once the server hears us. */
  connect(signal: AbortSignal, opened: () => void): Promise<ListenEnd>;
  /** A connection is open again: what the server said meanwhile was missed. */
  missed(): void;
  /** The server does not offer it. */
  refused(): void;
}

const pauseMilliseconds = 1_000;
const pauseMillisecondsMax = 60_000;
/** A connection that lived this long was no failure. */
const settledMilliseconds = 30_000;

export class Listening {
  readonly #options: ListeningOptions;
  readonly #stopping = new AbortController();
  #isOpen = false;
  #isReplaced = false;

  constructor(options: ListeningOptions) {
    this.#options = options;
    void this.#run(this.#stopping.signal);
  }

  /** Whether the server would be heard now. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  stop(): void {
    this.#isOpen = false;
    this.#stopping.abort();
  }

  /** Another one takes its place: it stays open for a moment, and is not opened again. */
  replaced(milliseconds: number): void {
    this.#isReplaced = true;
    setTimeout(() => this.stop(), milliseconds).unref();
  }

  async #run(signal: AbortSignal): Promise<void> {
    let pause = pauseMilliseconds;
    for (let attempt = 0; !signal.aborted && !this.#isReplaced; attempt++) {
      const began = performance.now();
      const opened = (): void => {
        if (signal.aborted || this.#isOpen) return;
        this.#isOpen = true;
        if (attempt > 0) this.#options.missed();
      };
      const end = await this.#options.connect(signal, opened).catch((): ListenEnd => "lost");
      this.#isOpen = false;
      if (signal.aborted || this.#isReplaced) return;
      if (end === "refused") {
        this.#options.refused();
        return;
      }
      if (performance.now() - began > settledMilliseconds) pause = pauseMilliseconds;
      await paused(pause, signal);
      pause = Math.min(pause * 2, pauseMillisecondsMax);
    }
  }
}

function paused(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(over, milliseconds);
    timer.unref();
    function over(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
      done();
    }
    signal.addEventListener("abort", over, { once: true });
  });
}
