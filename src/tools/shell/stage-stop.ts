// Cancellation of one command: by the script's own, or by itself; remembers the reason.
import type { CancelSignal } from "../../sandbox/plan/sandboxes.ts";

/** `reader`: its output has no reader. `full`: it wrote more than may be buffered. `file`: its file cannot be written. */
export type StageStopped = "reader" | "full" | "file";

export class StageStop implements CancelSignal {
  readonly #rings: (() => void)[] = [];
  #isStopped: boolean;
  because: StageStopped | null = null;

  constructor(script: CancelSignal) {
    this.#isStopped = script.stopped;
    script.onStop(() => this.#ring());
  }

  get stopped(): boolean {
    return this.#isStopped;
  }

  onStop(ring: () => void): void {
    if (this.#isStopped) ring();
    else this.#rings.push(ring);
  }

  end(because: StageStopped): void {
    if (this.#isStopped) return;
    this.because = because;
    this.#ring();
  }

  #ring(): void {
    this.#isStopped = true;
    for (const ring of this.#rings.splice(0)) ring();
  }
}
