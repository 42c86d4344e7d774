// First in, first out. `Array.prototype.shift` moves every element that is left, which takes seconds for a long queue.

/** Elements that were taken stay in front of the array until they are this many and most of it. */
const takenMax = 1024;

export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  take(): T | undefined {
    const item = this.#items[this.#head];
    if (this.length === 0) return undefined;
    this.#items[this.#head++] = undefined;
    if (this.#head >= takenMax && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** The one that was pushed last. */
  get last(): T | undefined {
    return this.length === 0 ? undefined : this.#items[this.#items.length - 1];
  }

  replaceLast(item: T): void {
    if (this.length > 0) this.#items[this.#items.length - 1] = item;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}
