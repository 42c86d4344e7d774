// Progress of long work, reported from inside its loop.

/** Called from inside a loop, also one that blocks the event loop. */
export type Step = (done: number, total: number) => void;
