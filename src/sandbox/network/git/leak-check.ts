// Finds a few texts in a stream of bytes, also across pieces. For packs, which the redactor would read at a few megabytes a
// second: a host that disguises the secret already knows it, so a plain comparison is enough.

export class LeakCheck {
  readonly #texts: readonly Buffer[];
  readonly #length: number;
  #rest: Buffer = Buffer.alloc(0);

  constructor(texts: readonly string[]) {
    this.#texts = texts.map((text) => Buffer.from(text));
    this.#length = Math.max(...this.#texts.map(({ length }) => length));
  }

  isIn(piece: Buffer): boolean {
    const joint = Buffer.concat([this.#rest, piece.subarray(0, this.#length - 1)]);
    const isFound = this.#texts.some((text) => joint.includes(text) || piece.includes(text));
    const end = Buffer.concat([this.#rest, piece.subarray(-this.#length + 1)]);
    this.#rest = Buffer.from(end.subarray(-this.#length + 1));
    return isFound;
  }
}
