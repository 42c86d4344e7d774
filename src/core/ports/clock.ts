// Clock and entropy, passed in from outside.

/** Milliseconds since 1970. */
export type Clock = () => number;

/** Returns that many random bytes from a secure source. */
export type Entropy = (bytes: number) => Uint8Array;
