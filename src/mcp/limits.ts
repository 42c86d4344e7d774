// Limits on what one MCP client may send and have in progress.

/** A longer line is answered with an error and skipped. The daemon accepts less than this in one request. */
export const lineBytesMax: number = 2 * 1_048_576;
/** At this many unanswered requests the server stops reading until it has answered some. */
export const requestsInFlightMax = 2_048;
/** At this much unread output the server stops reading until the client has read some. */
export const outputPendingBytesMax: number = 8 * 1_048_576;
/** At most this many calls are sent to the daemon at once; the others wait in order. */
export const callsAtOnceMax = 64;
/** How long a client may cache the list of tools. */
export const listMilliseconds = 5_000;
/** How often the server checks whether the list of tools has changed. */
export const listCheckMilliseconds = 1_000;
/** How often a client hears that a call still runs: some give up after 60 seconds of silence. */
export const progressMilliseconds = 10_000;
