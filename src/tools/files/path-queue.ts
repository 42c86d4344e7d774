// Serialises changes of one path over all sessions: an edit that read before another wrote would undo it.

export class PathQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** In order of arrival, at once if the queue is empty. A failure does not block the next. */
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
