// Time and chance, as values that arrive from outside.

/** Milliseconds since 1970. */
export type Clock = () => number;

/** That many unpredictable bytes. */
export type Entropy = (bytes: number) => Uint8Array;
