// How much a client may send, and ask for at once.

/** A longer line is refused and passed over. What the owner takes in one question is less. */
export const lineBytesMax: number = 2 * 1_048_576;
/** Past this nothing more is read until something is answered. */
export const requestsInFlightMax = 2_048;
/** Past this nothing more is read until the client has read some of it. */
export const outputPendingBytesMax: number = 8 * 1_048_576;
/** So many calls are with the owner at once; the others wait their turn. */
export const callsAtOnceMax = 64;
/** How long a list may be taken for true by whoever does not hear of changes. */
export const listMilliseconds = 5_000;
/** How often it is looked whether the list is another one. */
export const lookMilliseconds = 1_000;
