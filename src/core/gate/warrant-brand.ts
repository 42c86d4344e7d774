// The mark a warrant carries. A private field cannot be copied, proxied, cloned, inherited or named from outside,
// and asking for it calls no method that a hostile program could replace.

/** Its constructor hands back the object it is given, so that a subclass can put a private field on any object. */
class Carrier {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: returning another object is what puts the mark on it
    return object;
  }
}

class Mark extends Carrier {
  readonly #minted = true;

  static has(object: object): boolean {
    return #minted in object;
  }
}

/** INVARIANT: imported by `warrant-mint.ts` alone. The marked object has no link back to this class. */
export function mark(object: object): void {
  new Mark(object);
}

export function isMarked(value: unknown): boolean {
  return typeof value === "object" && value !== null && Mark.has(value);
}
