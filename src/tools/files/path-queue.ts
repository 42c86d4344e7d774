// Changes of one name wait for each other, whichever session asks for them: an edit that read before another wrote would
// undo it.

export class PathQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** In the order they came, at once where nobody is before it. One that fails does not keep the next from its turn. */
  async run<T>(path: readonly string[], act: () => Promise<T>): Promise<T> {
    const key = path.join("/");
    const before = this.#last.get(key);
    const mine = before === undefined ? act() : before.then(act, act);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
