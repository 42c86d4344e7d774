// How much anybody may ask of the daemon's two sockets at once.

/** 2: a question says whether bytes go along with it, and there are messages that nobody answers. */
export const protocolVersion = 2;

export const questionBytesMax = 1_048_576;
/** Lists of entries may be long, and only people read them. */
export const controlAnswerBytesMax: number = 8 * 1_048_576;
export const bytesFrameBytesMax = 65_536;

export const connectionsPerDoorMax = 1_024;
/** On one connection; what was told and is not done counts, too. */
export const questionsInFlightMax = 1_024;
/** Nobody can be told that this was too much, so it is more than anybody has to tell at once: only a flood reaches it. */
export const toldInFlightMax = 8_192;
export const toldCharactersMax = 4_096;
export const helloMilliseconds = 5_000;
/** How long an asker waits for the daemon's: it may have much to do. */
export const daemonHelloMilliseconds = 15_000;
/** How long a connection that was refused may take to read why. */
export const farewellMilliseconds = 1_000;

/** Past this a connection is asked to wait before it is sent more bytes. */
export const outputRoomBytes = 1_048_576;
/** Past this it is cut: whoever does not read is not waited for. */
export const outputPendingBytesMax: number = 8 * 1_048_576;
/** What may be sent along with one question before the answering side has taken any of it. */
export const inputWindowBytes = 262_144;
/** So much is taken before the sender is told that there is room again. */
export const inputTakenBytes = 65_536;
/** Of all connections together: frames half arrived, input not taken, output not read. */
export const heldBytesMax: number = 256 * 1_048_576;

/** What is read from a socket at once. */
export const readBytesMax = 65_536;

export const exchangeNumberMax = 0xffff_ffff;
