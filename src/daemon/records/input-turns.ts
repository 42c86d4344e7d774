// Numbers the turns between two reads of external input. No input arrives within a turn, so every request handled in it
// was sent before the turn's first check: one check serves all of them, and is as fresh as one for each.

export class InputTurns {
  #number = 0;
  #isOpen = false;

  /** Changes with every turn. */
  get now(): number {
    if (!this.#isOpen) {
      this.#isOpen = true;
      // Runs after all synchronous work, and before more input is read.
      process.nextTick(() => {
        this.#isOpen = false;
        this.#number++;
      });
    }
    return this.#number;
  }
}
