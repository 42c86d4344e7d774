// How much anybody may ask of the daemon's two sockets at once.

/** 3: a question says when it was sent, the asker says what it took of the bytes that came back, and either side can ping. */
export const protocolVersion = 3;

export const questionBytesMax = 1_048_576;
/** Values of a question: members, elements, lists and objects. More would take longer than others can wait to be parsed. */
export const questionValuesMax = 65_536;
/** A longer message is parsed in its turn, and not while the sockets are read. */
export const parsedAtOnceCharactersMax = 4_096;
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

/** Past this a connection is asked to wait before it is sent more bytes, and nothing more is read from it. */
export const outputRoomBytes = 1_048_576;
/** Past this it is cut: answers to what was read before are all that can bring it there. */
export const outputPendingBytesMax: number = 32 * 1_048_576;
/** What may be sent back for one question before the asker has taken any of it. */
export const outputWindowBytes = 1_048_576;
/** So much is taken before the daemon is told that there is room again. */
export const outputTakenBytes = 131_072;
/** Questions of one connection that were read and not begun: past this nothing more is read from it. */
export const questionsQueuedMax = 64;
/** The daemon begins questions for so long before it looks at its sockets again. */
export const turnMilliseconds = 8;
/** A question that took longer to be read may be one whose asker is gone: the daemon reads once more before it begins. */
export const lateMilliseconds = 500;
/** An asker that waits and hears nothing for so long asks whether anybody is there. */
export const pingMilliseconds = 5_000;
/** And gives up where nothing is heard for so long. */
export const silenceMillisecondsMax = 30_000;
/** What may be sent along with one question before the answering side has taken any of it. */
export const inputWindowBytes = 262_144;
/** So much is taken before the sender is told that there is room again. */
export const inputTakenBytes = 65_536;
/** Of all connections together: frames half arrived, input not taken, output not read. */
export const heldBytesMax: number = 256 * 1_048_576;

/** What is read from a socket at once. */
export const readBytesMax = 65_536;

export const exchangeNumberMax = 0xffff_ffff;
