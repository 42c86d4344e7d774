// Limits on what clients of the HTTP server may send and keep open.
import { lineBytesMax } from "../limits.ts";

/** The same as for one line over standard input. */
export const bodyBytesMax: number = lineBytesMax;
/** Requests that are answered at once, over all clients; further ones get status 503. */
export const exchangesMax = 1_024;
/** Requests of one token that are answered at once. */
export const exchangesOfTokenMax = 256;
/** Requests of one session that are not answered yet: with the largest bodies, 128 MiB a session. */
export const requestsOfSessionMax = 64;
/** Sessions of the older era, over all clients, and of one token. */
export const sessionsMax = 512;
export const sessionsOfTokenMax = 64;
/** Clients that had a session before, whose next session is not cleaner. */
export const closedClientsMax = 4_096;
/** A session without an open request is ended after this time. */
export const idleMilliseconds = 1_800_000;
/** How often tokens of open streams are checked, and lists of tools compared. */
export const sweepMilliseconds = 1_000;
/** A client has this long to send a request. */
export const requestMilliseconds = 30_000;
export const connectionsMax = 1_024;
