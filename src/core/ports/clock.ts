// The clock, passed in from outside.

/** Milliseconds since 1970. */
export type Clock = () => number;
