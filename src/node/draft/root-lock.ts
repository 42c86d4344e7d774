// One landing at a time in folders that share files: a lock for each root, held against roots inside it and around it.

/** Held against every root. */
export const EVERY_ROOT = "";

export class RootLock {
  readonly #held = new Set<string>();
  readonly #waiting: { readonly root: string; readonly start: () => void }[] = [];

  /** Runs `work` once no other work holds this root, a folder in it or a folder around it; in the order of the calls. */
  async run<T>(root: string, work: () => Promise<T>): Promise<T> {
    await this.#take(root);
    try {
      return await work();
    } finally {
      this.#held.delete(root);
      this.#startWaiting();
    }
  }

  #take(root: string): Promise<void> {
    const isFree = ![...this.#held, ...this.#waiting.map((one) => one.root)].some((other) => overlaps(root, other));
    if (isFree) {
      this.#held.add(root);
      return Promise.resolve();
    }
    return new Promise((start) => this.#waiting.push({ root, start }));
  }

  #startWaiting(): void {
    const passed: string[] = [];
    for (const one of [...this.#waiting]) {
      const isBlocked = [...this.#held, ...passed].some((other) => overlaps(one.root, other));
      passed.push(one.root);
      if (isBlocked) continue;
      this.#waiting.splice(this.#waiting.indexOf(one), 1);
      this.#held.add(one.root);
      one.start();
    }
  }
}

function overlaps(left: string, right: string): boolean {
  return left === right || left.startsWith(`${right}/`) || right.startsWith(`${left}/`);
}
