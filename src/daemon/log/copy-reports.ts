// Log entries about the second copy. Each of them has to be copied too, so they are rate-limited: a sink that keeps falling
// behind and catching up does not grow the log without bound.

export interface CopyListener {
  /** It fell behind, or has caught up again. */
  changed(isLate: boolean, problem: string | null): void;
  /** It lost entries that it had. */
  wentBack(from: number, to: number): void;
}

/** Burst size; after that one report per pause. */
const reportsMax = 6;
const pauseMilliseconds = 60_000;

export class CopyReports {
  readonly #told: CopyListener;
  readonly #pauseMilliseconds: number;
  #left = reportsMax;
  #timer: NodeJS.Timeout | null = null;
  /** The actual status, and the one last logged. */
  #problem: string | null = null;
  #isLate = false;
  #isLateTold = false;
  #back: { readonly from: number; readonly to: number } | null = null;

  constructor(told: CopyListener, pause: number = pauseMilliseconds) {
    this.#told = told;
    this.#pauseMilliseconds = pause;
  }

  late(problem: string | null): void {
    this.#isLate = true;
    this.#problem = problem;
    this.#tell();
  }

  well(): void {
    this.#isLate = false;
    if (!this.#isLateTold) return;
    this.#isLateTold = false;
    this.#told.changed(false, null);
  }

  wentBack(from: number, to: number): void {
    const before = this.#back;
    this.#back = { from: Math.max(from, before?.from ?? from), to: Math.min(to, before?.to ?? to) };
    this.#tell();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#left = 0;
  }

  #tell(): void {
    const back = this.#back;
    if (back !== null && this.#isAllowed()) {
      this.#back = null;
      this.#told.wentBack(back.from, back.to);
    }
    if (this.#isLate && !this.#isLateTold && this.#isAllowed()) {
      this.#isLateTold = true;
      this.#told.changed(true, this.#problem);
    }
  }

  #isAllowed(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    this.#wait();
    return true;
  }

  #wait(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#left++;
      this.#tell();
      if (this.#left < reportsMax) this.#wait();
    }, this.#pauseMilliseconds);
    this.#timer.unref();
  }
}
