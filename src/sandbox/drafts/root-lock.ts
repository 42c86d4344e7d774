// Serializes landings in folders that share files: a lock for each root that excludes roots inside it and around it.

/** Held against every root. */
export const EVERY_ROOT = "";

export class RootLock {
  readonly #locked = new Set<string>();
  readonly #waiting: { readonly root: string; readonly start: () => void }[] = [];

  /** Runs `work` once no other work holds this root, a folder in it or a folder around it; in call order. */
  async run<T>(root: string, work: () => Promise<T>): Promise<T> {
    await this.#take(root);
    try {
      return await work();
    } finally {
      this.#locked.delete(root);
      this.#startWaiting();
    }
  }

  #take(root: string): Promise<void> {
    const isFree = ![...this.#locked, ...this.#waiting.map((one) => one.root)].some((other) => overlaps(root, other));
    if (isFree) {
      this.#locked.add(root);
      return Promise.resolve();
    }
    return new Promise((start) => this.#waiting.push({ root, start }));
  }

  #startWaiting(): void {
    const passed: string[] = [];
    for (const one of [...this.#waiting]) {
      const isBlocked = [...this.#locked, ...passed].some((other) => overlaps(one.root, other));
      passed.push(one.root);
      if (isBlocked) continue;
      this.#waiting.splice(this.#waiting.indexOf(one), 1);
      this.#locked.add(one.root);
      one.start();
    }
  }
}

function overlaps(left: string, right: string): boolean {
  return left === right || left.startsWith(`${right}/`) || right.startsWith(`${left}/`);
}
