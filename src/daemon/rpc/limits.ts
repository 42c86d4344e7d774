// Limits of the daemon's two sockets.

/** 3: a request carries its send time, the client acknowledges received bytes, and either side can ping. */
export const protocolVersion = 3;

export const requestBytesMax = 1_048_576;
/** Values in a request: members, elements, lists and objects. Parsing more would delay other clients too long. */
export const requestValuesMax = 65_536;
/** A longer message is parsed in its turn, not while the sockets are read. */
export const parsedAtOnceCharactersMax = 4_096;
/** Lists of entries may be long, and only people read them. */
export const controlResponseBytesMax: number = 8 * 1_048_576;
export const bytesFrameBytesMax = 65_536;

export const connectionsPerDoorMax = 1_024;
/** Per connection; unfinished notifications count, too. */
export const requestsInFlightMax = 1_024;
/** Notifications have no response that could refuse them, so the limit is high: only a flood reaches it. */
export const notificationsInFlightMax = 8_192;
export const notificationCharactersMax = 4_096;
/** How long each side waits for the other's hello: on a busy machine either may be slow. */
export const helloMilliseconds = 15_000;
/** How long a refused connection may take to read the reason. */
export const farewellMilliseconds = 1_000;

/** Past this, senders wait before they send more bytes on a connection, and nothing more is read from it. */
export const outputRoomBytes = 1_048_576;
/** Past this the connection is closed: only responses to earlier requests can reach it. */
export const outputPendingBytesMax: number = 32 * 1_048_576;
/** Output window: bytes that may be sent for one request before the client acknowledges any. */
export const outputWindowBytes = 1_048_576;
/** Bytes that the client takes before it acknowledges them. */
export const outputTakenBytes = 131_072;
/** Requests of one connection that were read and not started: past this nothing more is read from it. */
export const requestsQueuedMax = 64;
/** Time slice for starting requests before the daemon reads its sockets again. */
export const turnMilliseconds = 8;
/** The client of a request that took longer to be read may be gone: the daemon reads once more before it starts the request. */
export const lateMilliseconds = 500;
/** A waiting client that receives nothing for this long sends a ping. */
export const pingMilliseconds = 5_000;
/** And gives up after this long without data. */
export const silenceMillisecondsMax = 30_000;
/** Input window: bytes that may be sent for one request before the daemon acknowledges any. */
export const inputWindowBytes = 262_144;
/** Bytes that the daemon takes before it acknowledges them. */
export const inputTakenBytes = 65_536;
/** All connections together: incomplete frames, unread input, unsent output. */
export const connectionMemoryBytesMax: number = 256 * 1_048_576;

/** Read buffer size of a socket. */
export const readBytesMax = 65_536;

export const exchangeNumberMax = 0xffff_ffff;
