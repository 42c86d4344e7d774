// Progress reports from inside a long loop.

/** Called from inside a loop, even one that blocks the event loop. */
export type Step = (done: number, total: number) => void;
