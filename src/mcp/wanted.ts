// Whether somebody still waits for a call. Who takes it back rings whoever works on it.

export class Wanted {
  #isTakenBack = false;
  #ring: (() => void) | null = null;

  get isTakenBack(): boolean {
    return this.#isTakenBack;
  }

  /** For one at a time: whoever works on it next takes the place of the one before. Rung at once where it is too late. */
  onTakenBack(ring: () => void): void {
    if (this.#isTakenBack) ring();
    else this.#ring = ring;
  }

  takeBack(): void {
    if (this.#isTakenBack) return;
    this.#isTakenBack = true;
    this.#ring?.();
    this.#ring = null;
  }
}
