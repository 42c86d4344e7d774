// Stretches of work: from one arrival to the next. Nothing is read from outside within a stretch, so whoever asks in it had
// asked before anything was looked at in it: one look serves all of them, and is as fresh as a look for each.

export class Stretch {
  #number = 0;
  #isOpen = false;

  /** Another number in every stretch. */
  get now(): number {
    if (!this.#isOpen) {
      this.#isOpen = true;
      // Runs when everything that waits for nobody is done, and before anything more is read.
      process.nextTick(() => {
        this.#isOpen = false;
        this.#number++;
      });
    }
    return this.#number;
  }
}
